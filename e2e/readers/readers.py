"""Read an Iceberg table with a reader that is not firn, and print what it saw as one line of JSON.

    readers.py --reader pyiceberg|duckdb|spark --metadata PATH_OR_URL [what to compute]
    readers.py --reader pyiceberg --catalog sqlite:///PATH|http://HOST:PORT [--catalog-name NAME] --table DB.T [...]

What to compute, over all rows unless said otherwise:
    --column NAME      sum, least, greatest and number of nulls of a column
    --distinct A,B,..  number of distinct tuples of these columns (default: the column)
    --where PREDICATE  number of rows that it selects; the SQL that all readers understand, such as "id >= 10"

The line: {"metadata", "columns", "rows", "sum", "min", "max", "nulls", "distinct", "filtered", "files",
"files_filtered"}. Values are text in one form for every reader: integers and decimals in digits, timestamps in
ISO 8601 with six decimals, ending in Z when the column has a zone, bytes in hexadecimal. "sum" is null for a column
that has none. "files" and "files_filtered", the data files planned without and with the predicate, are given by
PyIceberg only.

Locations may be local paths, s3:// or gs:// URLs. For S3 the endpoint and the keys come from AWS_ENDPOINT_URL_S3,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION; GCS is an emulator at STORAGE_EMULATOR_HOST, not for Spark.
"""

import argparse
import importlib
import json
import sys
from dataclasses import dataclass


@dataclass
class Query:
    metadata: str  # location of a metadata.json; empty with a catalog
    catalog: str
    catalog_name: str
    table: str
    column: str
    distinct: list[str]
    where: str


def parse(arguments: list[str]) -> tuple[str, Query]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", choices=["pyiceberg", "duckdb", "spark"], required=True)
    parser.add_argument("--metadata", default="")
    parser.add_argument("--catalog", default="")
    parser.add_argument("--catalog-name", default="firn")
    parser.add_argument("--table", default="")
    parser.add_argument("--column", default="")
    parser.add_argument("--distinct", default="")
    parser.add_argument("--where", default="")
    args = parser.parse_args(arguments)
    if bool(args.metadata) == bool(args.catalog):
        parser.error("give either --metadata or --catalog")
    if args.catalog and not args.table:
        parser.error("--catalog needs --table")
    if args.catalog and args.reader != "pyiceberg":
        parser.error("--catalog works with --reader pyiceberg only; its output has the metadata for the others")
    distinct = [c for c in args.distinct.split(",") if c] or [c for c in [args.column] if c]
    query = Query(args.metadata, args.catalog, args.catalog_name, args.table, args.column, distinct, args.where)
    return args.reader, query


def main() -> None:
    reader, query = parse(sys.argv[1:])
    seen = importlib.import_module(f"read_{reader}").read(query)
    print(json.dumps(seen, sort_keys=True))


if __name__ == "__main__":
    main()
