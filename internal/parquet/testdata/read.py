"""Reads every case of a directory with PyArrow and DuckDB and compares it with what was written.

A case is NAME.parquet with NAME.json: {"rows": [[...], ...], "types": [TYPE, ...], "logical": {path: text}}. A value
is null, or text in the canonical form of canonical() below, or a list (struct, list, map of pairs).
"""
import decimal
import glob
import json
import os
import struct
import sys
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

decimal.getcontext().prec = 80


def canonical(scalar, typ):
    """The canonical form of an Arrow scalar that the table's type tree describes."""
    kind = typ["kind"]
    if not scalar.is_valid:
        return None
    if kind == "struct":
        return [canonical(scalar[i], f) for i, f in enumerate(typ["fields"])]
    if kind == "list":
        return [canonical(e, typ["fields"][0]) for e in scalar.values]
    if kind == "map":
        key, value = typ["fields"]
        return [[canonical(e["key"], key), canonical(e["value"], value)] for e in scalar.values]
    if pa.types.is_timestamp(scalar.type) or pa.types.is_time64(scalar.type) or pa.types.is_date32(scalar.type):
        unit = getattr(scalar.type, "unit", "")
        if kind in ("timestamp_ns", "timestamptz_ns") and unit == "us":
            return str(scalar.value) + "us"
        return str(scalar.value)
    v = scalar.as_py()
    if kind == "boolean":
        return "true" if v else "false"
    if kind in ("float", "double"):
        return "nan" if v != v else struct.pack(">d", v).hex()
    if kind == "decimal":
        return str(int(v.scaleb(typ["scale"])))
    if kind == "uuid":
        return (v if isinstance(v, uuid.UUID) else uuid.UUID(v) if isinstance(v, str) else uuid.UUID(bytes=v)).hex
    if kind in ("binary", "fixed"):
        return v.hex()
    return str(v)


def rows_of(table, types):
    columns = [[canonical(s, t) for s in table.column(i)] for i, t in enumerate(types)]
    return [list(r) for r in zip(*columns)]


def to_micros(v, typ):
    """Instants in nanoseconds as DuckDB reads them before its version 2: in microseconds, cut towards zero."""
    if v is None:
        return None
    kind = typ["kind"]
    if kind == "struct":
        return [to_micros(e, f) for e, f in zip(v, typ["fields"])]
    if kind == "list":
        return [to_micros(e, typ["fields"][0]) for e in v]
    if kind == "map":
        return [[to_micros(k, typ["fields"][0]), to_micros(e, typ["fields"][1])] for k, e in v]
    if kind == "timestamptz_ns":
        return str(int(v) // 1000 if int(v) >= 0 else -(-int(v) // 1000)) + "us"
    return v


def check(path):
    case = json.load(open(path))
    data = path[: -len(".json")] + ".parquet"
    faults = []
    f = pq.ParquetFile(data, page_checksum_verification=True)
    got = rows_of(f.read(), case["types"])
    if got != case["rows"]:
        faults.append(f"pyarrow: want {case['rows']}\n got {got}")
    for i in range(len(f.schema)):
        column = f.schema.column(i)
        want = case["logical"][column.path]
        text = str(column.logical_type)
        if text != want:
            faults.append(f"logical type of {column.path}: want {want}, got {text}")
    con = duckdb.connect()
    con.execute("set timezone='UTC'")
    got = rows_of(con.execute("select * from read_parquet(?)", [data]).to_arrow_table(), case["types"])
    micros = [[to_micros(v, t) for v, t in zip(r, case["types"])] for r in case["rows"]]
    if got not in (case["rows"], micros):
        faults.append(f"duckdb: want {case['rows']}\n got {got}")
    if os.path.basename(data) == "bloom.parquet":
        faults += check_bloom(con, data, got)
    return faults


def check_bloom(con, data, rows):
    """The filters of two row groups exclude what is in the other one only, and what is in none."""
    half = len(rows) // 2
    probes = [(rows[i], [i >= half, i < half]) for i in (0, 7, half, len(rows) - 1)]
    probes.append((["-3", "no number"], [True, True]))
    faults = []
    for values, want in probes:
        for column, literal in (("number", values[0] + "::BIGINT"), ("text", f"'{values[1]}'")):
            query = f"select bloom_filter_excludes from parquet_bloom_probe('{data}', '{column}', {literal})"
            got = [r[0] for r in con.execute(query + " order by row_group_id").fetchall()]
            if got != want:
                faults.append(f"duckdb: filters exclude {column} {literal}: want {want}, got {got}")
    return faults


def main():
    bad = 0
    cases = sorted(glob.glob(os.path.join(sys.argv[1], "*.json")))
    for path in cases:
        try:
            faults = check(path)
        except Exception as e:  # a reader's refusal is a fault like another
            faults = [f"{type(e).__name__}: {e}"]
        for fault in faults:
            bad += 1
            print(f"{os.path.basename(path)}: {fault[:2000]}")
    print(f"read {len(cases)} cases, {bad} faults")
    sys.exit(1 if bad or not cases else 0)


main()
