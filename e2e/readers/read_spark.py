"""Read with Apache Spark, by a metadata file that is registered in a catalog of its own."""

import datetime
import os
import tempfile
import time

os.environ["TZ"] = "UTC"  # before the JVM starts: collected timestamps come in the zone of the process
time.tzset()

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as f  # noqa: E402
from pyspark.sql.types import DecimalType, IntegralType, NumericType, TimestampType  # noqa: E402

from readers import Query  # noqa: E402
from values import text  # noqa: E402

# The jars are beside Spark's own: components/python.sh put them there.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalog.m": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.m.type": "jdbc",
    "spark.sql.catalog.m.jdbc.schema-version": "V1",
    "spark.sql.catalog.m.warehouse": "file:///nowhere",
}


def read(query: Query) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        try:
            spark.sql("CREATE NAMESPACE m.db")
            spark.sql(f"CALL m.system.register_table('db.t', '{query.metadata}')")
            return {"metadata": query.metadata} | look(spark.table("m.db.t"), query)
        finally:
            spark.stop()


def session(folder: str) -> SparkSession:
    builder = SparkSession.builder.master("local[2]")
    own = {"spark.sql.catalog.m.uri": f"jdbc:sqlite:file:{folder}/catalog.db", "spark.local.dir": folder}
    for key, value in (SETTINGS | own | storage()).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def storage() -> dict[str, str]:
    catalog = "spark.sql.catalog.m."
    if "AWS_ENDPOINT_URL_S3" not in os.environ:
        return {catalog + "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}
    return {
        catalog + "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        catalog + "s3.endpoint": os.environ["AWS_ENDPOINT_URL_S3"],
        catalog + "s3.path-style-access": "true",
        catalog + "client.region": os.environ.get("AWS_REGION", "us-east-1"),
    }


def look(table: DataFrame, query: Query) -> dict:
    seen = {"columns": table.columns, "rows": table.count()}
    if query.column:
        seen |= column(table, query.column)
    if query.distinct:
        seen["distinct"] = table.select([quoted(c) for c in query.distinct]).distinct().count()
    if query.where:
        seen["filtered"] = table.where(query.where).count()
    return seen


def column(table: DataFrame, name: str) -> dict:
    c, kind = f.col(quoted(name)), table.schema[name].dataType
    total = f.lit(None)
    if isinstance(kind, IntegralType):
        total = f.sum(c.cast(DecimalType(38, 0)))
    elif isinstance(kind, NumericType):
        total = f.sum(c)
    row = table.agg(f.min(c), f.max(c), total, f.count(f.when(c.isNull(), 1))).first()
    low, high = row[0], row[1]
    if isinstance(kind, TimestampType):
        low, high = (v and v.replace(tzinfo=datetime.timezone.utc) for v in (low, high))
    empty = "0" if isinstance(kind, NumericType) else None
    return {"min": text(low), "max": text(high), "sum": empty if row[2] is None else text(row[2]), "nulls": row[3]}


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
