"""Writes every NAME.parquet of a directory anew with PyArrow, as NAME.1.rewritten, NAME.2.rewritten and so on: with
each codec, both versions of data pages, dictionaries and every encoding that the columns' types allow.
"""
import glob
import itertools
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def encodings(schema):
    """By leaf, the encodings that Arrow writes beside dictionaries."""
    out = {}
    for i in range(len(schema)):
        column = schema.column(i)
        by_type = {
            "INT32": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"], "INT64": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
            "FLOAT": ["BYTE_STREAM_SPLIT"], "DOUBLE": ["BYTE_STREAM_SPLIT"], "BOOLEAN": ["RLE"],
            "BYTE_ARRAY": ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
            "FIXED_LEN_BYTE_ARRAY": ["DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"],
        }
        out[column.path] = by_type[column.physical_type]
    return out


def main(folder):
    codecs = itertools.cycle(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
    written = 0
    for path in sorted(glob.glob(folder + "/*.parquet")):
        source = pq.ParquetFile(path)
        table = source.read()
        by_leaf = encodings(source.schema)
        choices = [{"use_dictionary": True}, {"use_dictionary": False}]
        for n in range(max(len(e) for e in by_leaf.values())):
            chosen = {leaf: e[n % len(e)] for leaf, e in by_leaf.items()}
            choices.append({"use_dictionary": False, "column_encoding": chosen})
        for n, choice in enumerate(choices):
            options = dict(
                choice, version="2.6", compression=next(codecs), data_page_version=["1.0", "2.0"][(written + n) % 2],
                data_page_size=[300, 1 << 20][written % 2], write_batch_size=7, row_group_size=[90, 1 << 20][n % 2],
                store_decimal_as_integer="column_encoding" in choice or bool(written % 3),
                write_page_checksum=bool(written % 5))
            pq.write_table(table, f"{path[:-len('.parquet')]}.{n}.rewritten", **options)
            written += 1
    print(written, "files written by PyArrow", pa.__version__)


main(sys.argv[1])
