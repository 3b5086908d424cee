"""Read Parquet files with PyArrow or DuckDB, for the matrix of readers.

    read_arrow.py pyarrow|duckdb FOLDER

FOLDER has matrix.json, which lists files and filters. The rows of FOLDER/NAME.parquet go to FOLDER/READER/NAME.jsonl as
text (text_test.go has its form), or what the reader says against the file to FOLDER/READER/NAME.fault. The counts of
the filters go to FOLDER/READER/filters.json.
"""

import json
import os
import sys
import traceback
from decimal import Context, Decimal

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

DIGITS = Context(prec=80)  # decimals have up to 38, and scaling must not round


def texts(array: pa.Array, kind: dict) -> list[str]:
    """The text of each value of an array whose type is described by kind."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    nested = {"struct": structs, "list": lists, "map": maps}.get(kind["kind"])
    if nested:
        return [t if v else "null" for t, v in zip(nested(array, kind["fields"]), array.is_valid().to_pylist())]
    form = FORMS.get(kind["kind"], str)
    if kind["kind"] == "decimal":
        form = lambda v: str(int(v.scaleb(kind["scale"], DIGITS)))  # noqa: E731
    return ["null" if v is None else form(v) for v in plain(array, kind["kind"]).to_pylist()]


def plain(array: pa.Array, kind: str) -> pa.Array:
    """The array with the numbers that are stored: Python's own dates and times are coarser."""
    t = array.type
    if kind in ("float", "double"):
        return array.cast(pa.float64()).view(pa.uint64())
    if pa.types.is_timestamp(t) or pa.types.is_time64(t):
        return array.view(pa.int64())
    if pa.types.is_date32(t):
        return array.view(pa.int32())
    return array


def bits(v: int) -> str:
    return '"nan"' if v & 0x7FFFFFFFFFFFFFFF > 0x7FF0000000000000 else f'"{v:016x}"'


FORMS = {
    "boolean": lambda v: "true" if v else "false",
    "float": bits,
    "double": bits,
    "string": json.dumps,
    "binary": lambda v: f'"{v.hex()}"',
    "fixed": lambda v: f'"{v.hex()}"',
    "uuid": lambda v: '"' + (v.hex() if isinstance(v, bytes) else str(v).replace("-", "")) + '"',
}


def structs(array: pa.StructArray, fields: list[dict]) -> list[str]:
    columns = [texts(child, field) for child, field in zip(array.flatten(), fields)]
    return ["[" + ",".join(row) + "]" for row in zip(*columns)]


def lists(array: pa.ListArray, fields: list[dict]) -> list[str]:
    return cut(array, texts(array.flatten(), fields[0]))


def maps(array: pa.MapArray, fields: list[dict]) -> list[str]:
    entries = array.cast(pa.list_(pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])))
    return cut(array, structs(entries.flatten(), fields))


def cut(array: pa.Array, elements: list[str]) -> list[str]:
    """The elements, list by list. Those of lists that are null are not among them."""
    out, at = [], 0
    entries = array if pa.types.is_list(array.type) else array.cast(pa.list_(array.type.field(0).type))
    for n in pc.fill_null(pc.list_value_length(entries), 0).to_pylist():
        out.append("[" + ",".join(elements[at : at + n]) + "]")
        at += n
    return out


def pyarrow_rows(path: str) -> pa.Table:
    return pq.read_table(path, partitioning=None)


def duckdb_rows(path: str) -> pa.Table:
    return connection().execute("SELECT * FROM read_parquet(?)", [path]).to_arrow_table()


def connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    return con


def pyarrow_counts(path: str, filters: list[dict]) -> list[dict]:
    dataset, table = ds.dataset(path), pyarrow_rows(path)

    def count(f: dict) -> dict:
        name = f["column"]
        e = expression(f, table.schema.field(name).type)
        held, read = table.select([name]).filter(e), dataset.to_table(columns=[name], filter=e)
        return {"full": held.num_rows, "filtered": read.num_rows}

    return [attempt(count, f) for f in filters]


def expression(f: dict, t: pa.DataType) -> pc.Expression:
    column = pc.field(f["column"])
    if f["value"] is None:
        return column.is_null() if f["op"] == "is null" else column.is_valid()
    v = pc.scalar(arrow_scalar(f["value"], f["type"], t))
    return {
        "=": lambda: column == v, "<>": lambda: column != v, "<": lambda: column < v,
        "<=": lambda: column <= v, ">": lambda: column > v, ">=": lambda: column >= v,
    }[f["op"]]()  # fmt: skip


def arrow_scalar(value, kind: dict, t: pa.DataType) -> pa.Scalar:
    name = kind["kind"]
    if name in ("float", "double"):
        return pa.scalar(floating(value), t)
    if name in ("binary", "fixed"):
        return pa.scalar(bytes.fromhex(value), t)
    if name == "uuid":
        return pa.ExtensionScalar.from_storage(t, pa.scalar(bytes.fromhex(value), pa.binary(16)))
    if name == "decimal":
        return pa.scalar(Decimal(value).scaleb(-kind["scale"], DIGITS), t)
    if pa.types.is_timestamp(t) or pa.types.is_time64(t):
        return pa.array([value], pa.int64()).view(t)[0]
    if pa.types.is_date32(t):
        return pa.array([value], pa.int32()).view(t)[0]
    return pa.scalar(value, t)


def floating(value: str) -> float:
    if value == "nan":
        return float("nan")
    return pa.array([int(value, 16)], pa.uint64()).view(pa.float64())[0].as_py()


def duckdb_counts(path: str, filters: list[dict]) -> list[dict]:
    con = connection()
    con.execute(f"CREATE TABLE held AS FROM read_parquet('{path}')")

    def count(f: dict) -> dict:
        where = f'"{f["column"]}" {f["op"]} {literal(f["value"], f["type"]) if f["value"] is not None else ""}'
        full, filtered = (
            con.execute(f"SELECT count(*) FROM {source} WHERE {where}").fetchone()[0]
            for source in ("held", f"read_parquet('{path}')")
        )
        return {"full": full, "filtered": filtered}

    return [attempt(count, f) for f in filters]


def literal(value, kind: dict) -> str:
    """A value in DuckDB's SQL."""
    name = kind["kind"]
    if name in ("float", "double"):
        return f"'{floating(value)!r}'::{name.upper()}"
    if name == "decimal":
        text = format(Decimal(value).scaleb(-kind["scale"], DIGITS), "f")
        return f"'{text}'::DECIMAL({kind['precision']}, {kind['scale']})"
    hexadecimal = value if isinstance(value, str) else ""
    return {
        "date": lambda: f"(DATE '1970-01-01' + {value})",
        "time": lambda: f"make_timestamp({value})::TIME",
        "timestamp": lambda: f"make_timestamp({value})",
        "timestamptz": lambda: f"make_timestamp({value})::TIMESTAMPTZ",
        "timestamp_ns": lambda: f"make_timestamp_ns({value})",
        "timestamptz_ns": lambda: f"make_timestamp({towards_zero(value)})::TIMESTAMPTZ",
        "uuid": lambda: f"'{hexadecimal}'::UUID",
        "binary": lambda: f"from_hex('{hexadecimal}')",
        "fixed": lambda: f"from_hex('{hexadecimal}')",
        "string": lambda: "decode(from_hex('" + value.encode().hex() + "'))",
    }.get(name, lambda: str(value).lower())()


def towards_zero(nanoseconds: int) -> int:
    """The microseconds that DuckDB reads, which has no TIMESTAMPTZ of nanoseconds."""
    return nanoseconds // 1000 if nanoseconds >= 0 else -(-nanoseconds // 1000)


def attempt(count, f: dict) -> dict:
    try:
        return count(f)
    except Exception:  # whatever a reader throws is told of
        return {"fault": traceback.format_exc()}


READERS = {"pyarrow": (pyarrow_rows, pyarrow_counts), "duckdb": (duckdb_rows, duckdb_counts)}


def main() -> None:
    reader, folder = sys.argv[1:]
    rows, counts = READERS[reader]
    pa.set_cpu_count(1)
    out = os.path.join(folder, reader)
    os.mkdir(out)
    with open(os.path.join(folder, "matrix.json")) as f:
        matrix = json.load(f)
    for file in matrix["files"]:
        name, columns = file["name"], matrix["datasets"][file["dataset"]]
        try:
            table = rows(os.path.join(folder, name + ".parquet"))
            lines = lines_of(table, columns)
            with open(os.path.join(out, name + ".jsonl"), "w") as f:
                f.writelines(line + "\n" for line in lines)
        except Exception:  # a reader's refusal is a fault like another
            with open(os.path.join(out, name + ".fault"), "w") as f:
                f.write(traceback.format_exc())
    counted = []
    for name, filters in by_file(matrix["filters"]).items():
        counted += counts(os.path.join(folder, name + ".parquet"), filters)
    with open(os.path.join(out, "filters.json"), "w") as f:
        json.dump(counted, f)


def lines_of(table: pa.Table, columns: list[dict]) -> list[str]:
    row = zip(*(texts(column, kind) for column, kind in zip(table.columns, columns, strict=True)))
    return ["[" + ",".join(values) + "]" for values in row]


def by_file(filters: list[dict]) -> dict[str, list[dict]]:
    """The filters of each file, which stand together."""
    out: dict[str, list[dict]] = {}
    for f in filters:
        out.setdefault(f["file"], []).append(f)
    return out


main()
