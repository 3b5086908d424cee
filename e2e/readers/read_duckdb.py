"""Read with DuckDB's iceberg extension, by a metadata file."""

import glob
import importlib
import os
import urllib.parse

import duckdb

from readers import Query
from values import text

NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def read(query: Query) -> dict:
    db = connect()
    source = f"iceberg_scan({literal(local(query.metadata))})"
    kinds = {name: kind for name, kind, *_ in db.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    seen = {"metadata": query.metadata, "columns": list(kinds), "rows": one(db, f"SELECT count(*) FROM {source}")}
    if query.column:
        seen |= column(db, source, query.column, kinds)
    if query.distinct:
        names = ", ".join(quoted(c) for c in query.distinct)
        seen["distinct"] = one(db, f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {source})")
    if query.where:
        seen["filtered"] = one(db, f"SELECT count(*) FROM {source} WHERE {query.where}")
    return seen


def connect() -> duckdb.DuckDBPyConnection:
    """A database with the extensions that lie in Python packages: nothing is downloaded."""
    db = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for name in ("avro", "httpfs", "iceberg"):
        package = os.path.dirname(importlib.import_module(f"duckdb_extension_{name}").__file__)
        [path] = glob.glob(f"{package}/extensions/v{duckdb.__version__}/{name}.duckdb_extension")
        db.execute(f"LOAD {literal(path)}")
    db.execute("SET TimeZone = 'UTC'")
    if "AWS_ACCESS_KEY_ID" in os.environ:
        keys = {"KEY_ID": os.environ["AWS_ACCESS_KEY_ID"], "SECRET": os.environ["AWS_SECRET_ACCESS_KEY"]}
        region = {"REGION": os.environ.get("AWS_REGION", "us-east-1")}
        db.execute(secret("s3", os.environ.get("AWS_ENDPOINT_URL_S3", "https://s3.amazonaws.com"), keys | region))
    if emulator := os.environ.get("STORAGE_EMULATOR_HOST"):
        db.execute(secret("gcs", emulator, {"KEY_ID": "any", "SECRET": "any"}))
    return db


def secret(kind: str, url: str, settings: dict[str, str]) -> str:
    endpoint = urllib.parse.urlparse(url)
    ssl = "true" if endpoint.scheme == "https" else "false"
    settings = settings | {"ENDPOINT": endpoint.netloc, "URL_STYLE": "path", "USE_SSL": ssl}
    return f"CREATE SECRET (TYPE {kind}, " + ", ".join(f"{k} {literal(v)}" for k, v in settings.items()) + ")"


def local(location: str) -> str:
    return location.removeprefix("file://") if location.startswith("file:///") else location.removeprefix("file:")


def column(db: duckdb.DuckDBPyConnection, source: str, name: str, kinds: dict[str, str]) -> dict:
    c = quoted(name)
    number = kinds[name].split("(")[0] in NUMBERS
    total = f"coalesce(sum({c}), 0)::VARCHAR" if number else "NULL"
    # Arrow carries the ends: its Python values are those of PyIceberg's arrow table.
    sql = f"SELECT min({c}) AS low, max({c}) AS high, {total} AS total, count(*) - count({c}) AS nulls FROM {source}"
    [row] = db.execute(sql).to_arrow_table().to_pylist()
    return {"min": text(row["low"]), "max": text(row["high"]), "sum": row["total"], "nulls": row["nulls"]}


def one(db: duckdb.DuckDBPyConnection, sql: str) -> int:
    return db.execute(sql).fetchone()[0]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
