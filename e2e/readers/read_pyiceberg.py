"""Read with PyIceberg: by a catalog, or by a metadata file alone."""

import os

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable

from readers import Query
from values import text


def read(query: Query) -> dict:
    table = open_table(query)
    columns = [field.name for field in table.schema().fields]
    wanted = list(dict.fromkeys([c for c in [query.column] if c] + query.distinct)) or columns[:1]
    rows = table.scan(selected_fields=tuple(wanted)).to_arrow()
    files = len(list(table.scan().plan_files()))
    seen = {"metadata": table.metadata_location, "columns": columns, "rows": rows.num_rows, "files": files}
    if query.column:
        seen |= column(rows[query.column])
    if query.distinct:
        seen["distinct"] = distinct(rows.select(query.distinct))
    if query.where:
        scan = table.scan(row_filter=query.where, selected_fields=tuple(wanted))
        seen |= {"filtered": scan.to_arrow().num_rows, "files_filtered": len(list(scan.plan_files()))}
    return seen


def open_table(query: Query):
    if query.metadata:
        return StaticTable.from_metadata(query.metadata, storage())
    kind = "sql" if query.catalog.startswith("sqlite:") else "rest"
    return load_catalog(query.catalog_name, type=kind, uri=query.catalog, **storage()).load_table(query.table)


def storage() -> dict:
    names = {
        "s3.endpoint": "AWS_ENDPOINT_URL_S3",
        "s3.access-key-id": "AWS_ACCESS_KEY_ID",
        "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY",
        "s3.region": "AWS_REGION",
    }
    settings = {key: os.environ[name] for key, name in names.items() if name in os.environ}
    if emulator := os.environ.get("STORAGE_EMULATOR_HOST"):
        # It takes any token; without one the credentials of the machine would be asked for.
        token = {"gcs.oauth2.token": "any", "gcs.oauth2.token-expires-at": "4102444800000"}
        settings |= {"gcs.service.host": emulator} | token
    return settings


def column(values: pa.ChunkedArray) -> dict:
    # Python compares the ends: pyarrow has no min_max for some types.
    present = [v for v in values.to_pylist() if v is not None]
    ends = {"min": text(min(present, default=None)), "max": text(max(present, default=None))}
    return ends | {"sum": total(values), "nulls": values.null_count}


def distinct(rows: pa.Table) -> int:
    try:
        return rows.group_by(rows.column_names).aggregate([]).num_rows
    except pa.ArrowNotImplementedError:  # some types, uuid for one, are no keys to arrow
        return len({tuple(text(v) for v in row.values()) for row in rows.to_pylist()})


def total(values: pa.ChunkedArray) -> str | None:
    kind = values.type
    if pa.types.is_integer(kind):
        values = values.cast(pa.decimal128(38, 0))  # a sum of int64 wraps without a word
    elif not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return text(pc.sum(values, min_count=0).as_py())
