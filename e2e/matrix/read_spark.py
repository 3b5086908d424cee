"""Read Parquet files with Apache Spark, for the matrix of readers.

    read_spark.py FOLDER

As read_arrow.py, into FOLDER/spark, but for the filters: Spark's are those of parquet-java. Columns are made text
within Spark, by its own functions: what it hands to Python is coarser.
"""

import json
import os
import struct
import sys
import tempfile
import traceback
from decimal import Context, Decimal

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.files.maxPartitionBytes": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.legacy.parquet.nanosAsLong": "true",  # Spark has no timestamps of nanoseconds
    "spark.sql.codegen.wholeStage": "false",  # hundreds of columns are more than a method of Java's can have
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.debug.maxToStringFields": "10",
}


def text(column: Column, kind: dict) -> Column:
    """The values of a column as strings, in arrays and structs like their own."""
    name, fields = kind["kind"], kind.get("fields")
    if name == "struct":
        parts = [text(column.getField(field["name"]), field).alias(field["name"]) for field in fields]
        return f.when(column.isNotNull(), f.struct(*parts))
    if name == "list":
        return f.transform(column, lambda e: text(e, fields[0]))
    if name == "map":
        def entry(e: Column) -> Column:
            return f.struct(text(e["key"], fields[0]).alias("key"), text(e["value"], fields[1]).alias("value"))

        return f.transform(f.map_entries(column), entry)
    return FORMS.get(name, lambda c: c.cast("string"))(column)


FORMS = {
    "date": lambda c: f.unix_date(c).cast("string"),
    "timestamp": lambda c: f.unix_micros(c.cast("timestamp")).cast("string"),
    "timestamptz": lambda c: f.unix_micros(c).cast("string"),
    "uuid": f.hex,
    "fixed": f.hex,
    "binary": f.hex,
}


def printed(value, kind: dict) -> str:
    """A value that text() made, in the form of text_test.go."""
    name, fields = kind["kind"], kind.get("fields")
    if value is None:
        return "null"
    if name == "struct":
        return "[" + ",".join(printed(v, field) for v, field in zip(value, fields)) + "]"
    if name == "list":
        return "[" + ",".join(printed(v, fields[0]) for v in value) + "]"
    if name == "map":
        return "[" + ",".join(f"[{printed(k, fields[0])},{printed(v, fields[1])}]" for k, v in value) + "]"
    if name in ("float", "double"):
        v = float(value)
        if name == "float":  # the shortest digits of a float are not those of the double that it is
            v = struct.unpack("f", struct.pack("f", v))[0]
        return '"nan"' if v != v else '"' + struct.pack(">d", v).hex() + '"'
    if name == "string":
        return json.dumps(value)
    if name in ("uuid", "fixed", "binary"):
        return f'"{value.lower()}"'
    if name == "decimal":
        return str(int(scaled(value, kind["scale"])))
    return value


def scaled(digits: str, scale: int) -> str:
    """The unscaled value of a decimal that is printed with or without an exponent."""
    return str(Decimal(digits).scaleb(scale, Context(prec=80)).to_integral_exact())


def readable(kind: dict) -> bool:
    """Whether Spark reads the type: isOfSpark in dataset_test.go says what it does not."""
    fields = kind.get("fields") or []
    return kind["kind"] != "time" and all(field["kind"] != "uuid" and readable(field) for field in fields)


def rows(spark: SparkSession, path: str, columns: list[dict]) -> list[str]:
    # Without a schema of the caller's Spark would look at the columns that it cannot read.
    known = [c for c in columns if readable(c)]
    frame = spark.read.schema(", ".join(f"`{c['name']}` {sql(c)}" for c in known)).parquet(path)
    selected = frame.select(*(text(f.col(c["name"]), c).alias(c["name"]) for c in known))
    lines = []
    for row in selected.coalesce(1).collect():
        values = iter(row)
        lines.append("[" + ",".join(printed(next(values), c) if readable(c) else '"-"' for c in columns) + "]")
    return lines


def sql(kind: dict) -> str:
    """The type in Spark's SQL."""
    name, fields = kind["kind"], kind.get("fields")
    if name == "struct":
        return "STRUCT<" + ", ".join(f"`{field['name']}`: {sql(field)}" for field in fields) + ">"
    if name == "list":
        return f"ARRAY<{sql(fields[0])}>"
    if name == "map":
        return f"MAP<{sql(fields[0])}, {sql(fields[1])}>"
    if name == "decimal":
        return f"DECIMAL({kind['precision']}, {kind['scale']})"
    return {
        "long": "BIGINT", "timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP", "timestamp_ns": "BIGINT",
        "timestamptz_ns": "BIGINT", "uuid": "BINARY", "fixed": "BINARY",
    }.get(name, name.upper())  # fmt: skip


def main() -> None:
    folder = sys.argv[1]
    out = os.path.join(folder, "spark")
    os.mkdir(out)
    with open(os.path.join(folder, "matrix.json")) as file:
        matrix = json.load(file)
    with tempfile.TemporaryDirectory() as scratch:
        builder = SparkSession.builder.master("local[2]").config("spark.local.dir", scratch)
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        for file in matrix["files"]:
            name, columns = file["name"], matrix["datasets"][file["dataset"]]
            # Spark's vectorized reader refuses BYTE_STREAM_SPLIT, which the others may have.
            spark.conf.set("spark.sql.parquet.enableVectorizedReader", str(not file["auto"]).lower())
            try:
                lines = rows(spark, os.path.join(folder, name + ".parquet"), columns)
                with open(os.path.join(out, name + ".jsonl"), "w") as written:
                    written.writelines(line + "\n" for line in lines)
            except Exception:  # a reader's refusal is a fault like another
                with open(os.path.join(out, name + ".fault"), "w") as written:
                    written.write(traceback.format_exc())
        spark.stop()


main()
