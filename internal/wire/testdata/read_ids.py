"""Prints the ids of the rows of a table, given by its metadata file, as PyIceberg and as DuckDB read them."""
import glob
import os
import sys

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
from pyiceberg.table import StaticTable

metadata = sys.argv[1]
table = StaticTable.from_metadata(metadata)
print(sorted(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()))
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
for module in (duckdb_extension_avro, duckdb_extension_iceberg):
    folder = os.path.dirname(module.__file__)
    for path in glob.glob(folder + "/**/*.duckdb_extension", recursive=True):
        connection.execute(f"LOAD '{path}'")
print(connection.execute("select list(id order by id) from iceberg_scan(?)", [metadata]).fetchone()[0])
