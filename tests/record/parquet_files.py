"""Parquet files of every type, encoding and compression, written by pyarrow, and what pyarrow reads of them.

    parquet_files.py FOLDER    writes FOLDER/NAME.parquet and FOLDER/NAME.json for each case: a list of rows, each with
                               the bytes of its keys in hexadecimal, and the numbers that have a text"""
import itertools
import json
import pathlib
import random
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq

RANDOM = random.Random(17)
ROWS = 150
PACKED = {pa.int8(): "b", pa.int16(): "h", pa.int32(): "i", pa.int64(): "q", pa.uint8(): "B", pa.uint16(): "H",
          pa.uint32(): "I", pa.uint64(): "Q", pa.float16(): "e", pa.float32(): "f", pa.float64(): "d", pa.bool_(): "?"}
INTEGERS = [kind for kind, code in PACKED.items() if code in "bhiqBHIQ"]


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def some(kind, row):
    """A value; neighbours are often equal or close, as real ones are."""
    if pa.types.is_struct(kind):
        return {field.name: some_or_none(field.type, row) for field in kind}
    if pa.types.is_fixed_size_list(kind):
        return [some(kind.value_type, row) for _ in range(kind.list_size)]
    if is_list(kind):
        return [some_or_none(kind.value_type, row, 0.005) for _ in range(RANDOM.choice((0, 1, 2, 3, 40)))]
    if kind in INTEGERS:
        bits = kind.bit_width
        low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << (bits - 1))
        wide = RANDOM.randrange(low, low + (1 << bits))
        return RANDOM.choice((row % 100, row % 3, low, low + (1 << bits) - 1, wide))
    if pa.types.is_boolean(kind):
        return RANDOM.random() < 0.3
    if pa.types.is_floating(kind):
        return RANDOM.choice((0.0, -1.5, row / 4, float(RANDOM.randrange(-2000, 2000))))
    if pa.types.is_fixed_size_binary(kind):
        return bytes(RANDOM.randrange(4) for _ in range(kind.byte_width))
    text = "".join(RANDOM.choice("abcä") for _ in range(RANDOM.choice((0, 1, 5, 60)))) + f"/{row // 7}"
    return text if pa.types.is_string(kind) or pa.types.is_large_string(kind) else text.encode()


def some_or_none(kind, row, nulls=0.1):
    return None if RANDOM.random() < nulls else some(kind, row)


def elements(kind, value):
    """The values of a nested list in their order; None if one of them is null."""
    if not is_list(kind):
        return None if value is None else [value]
    parts = [elements(kind.value_type, element) for element in value or []]
    return None if None in parts else list(itertools.chain.from_iterable(parts))


def innermost(kind):
    return innermost(kind.value_type) if is_list(kind) else kind


def put(key, kind, value, row):
    if value is None:
        return
    if pa.types.is_struct(kind):
        media = [field.name for field in kind] == ["bytes", "path"]
        for field in kind:
            name = key if media and field.name == "bytes" else f"{key}.{field.name}"
            put(name, field.type, value[field.name], row)
        return
    inner = innermost(kind)
    if is_list(kind) and pa.types.is_struct(inner):
        for field in inner:
            members = [element and element[field.name] for element in value]
            put(f"{key}.{field.name}", pa.list_(field.type), members, row)
        return
    values = elements(kind, value)
    if values is None:
        return
    if inner in PACKED:
        row["fields"][f"{key}[]"] = struct.pack(f"<{len(values)}{PACKED[inner]}", *values).hex()
        if is_list(kind):
            row["fields"][key] = row["fields"][f"{key}[]"]
        elif inner != pa.float16():
            row["numbers"][key] = float(value) if pa.types.is_floating(inner) else str(int(value))
        return
    for number, text in enumerate(values):
        name = f"{key}[{number}]" if is_list(kind) else key
        row["fields"][name] = (text.encode() if isinstance(text, str) else text).hex()


def write(folder, name, types, nulls=0.1, table=None, **options):
    """The columns are named by their numbers."""
    if table is None:
        fields = [pa.field(f"c{number}", kind, nullable=nulls > 0) for number, kind in enumerate(types)]
        columns = [pa.array([some_or_none(field.type, row, nulls) for row in range(ROWS)], field.type)
                   for field in fields]
        table = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    path = pathlib.Path(folder, f"{name}.parquet")
    pq.write_table(table, path, **options)
    rows = []
    read = pq.read_table(path)
    for values in read.to_pylist():
        row = {"fields": {}, "numbers": {}}
        for field in read.schema:
            put(field.name, field.type, values[field.name], row)
        rows.append(row)
    path.with_suffix(".json").write_text(json.dumps(rows))


def columns(encoding, count):
    return {"use_dictionary": False, "column_encoding": {f"c{number}": encoding for number in range(count)}}


def write_all(folder):
    texts = [pa.string(), pa.large_string(), pa.binary(), pa.binary(5)]
    flat = [*PACKED, *texts]
    lists = [pa.list_(pa.int64()), pa.list_(pa.float32()), pa.list_(pa.string()), pa.list_(pa.uint8()),
             pa.list_(pa.list_(pa.int32())), pa.large_list(pa.bool_()), pa.list_(pa.float16(), 3)]
    nested = [pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
              pa.struct([("a", pa.int16()), ("b", pa.list_(pa.float64()))]),
              pa.list_(pa.struct([("box", pa.list_(pa.float32())), ("kind", pa.int8())]))]
    every = flat + lists + nested
    small = {"row_group_size": 60, "data_page_size": 300, "write_batch_size": 16}
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        for version in ("1.0", "2.0"):
            write(folder, f"{codec}-{version}", every, compression=codec, data_page_version=version,
                  write_page_checksum=version == "1.0", **small)
    write(folder, "plain", every, use_dictionary=False, **small)
    write(folder, "no-nulls", flat + [pa.list_(pa.int64())], nulls=0, **small)
    write(folder, "all-null", flat + lists, nulls=1, data_page_version="2.0", **small)
    write(folder, "one-page", every, compression="zstd")
    # The dictionary becomes too large, and the other pages are plain.
    write(folder, "fall-back", flat, dictionary_pagesize_limit=64, **small)
    ints = [kind for kind in INTEGERS] + [pa.list_(pa.int64())]
    write(folder, "delta-ints", ints, **small, **columns("DELTA_BINARY_PACKED", len(ints) - 1))
    write(folder, "delta-lengths", texts[:3], **small, **columns("DELTA_LENGTH_BYTE_ARRAY", 3))
    write(folder, "delta-texts", texts, **small, **columns("DELTA_BYTE_ARRAY", 4))
    split = [pa.float16(), pa.float32(), pa.float64(), pa.int32(), pa.int64(), pa.binary(5)]
    write(folder, "split", split, **small, **columns("BYTE_STREAM_SPLIT", len(split)))
    write(folder, "rle", [pa.bool_()], **small, **columns("RLE", 1))
    write(folder, "old-lists", lists[:4], use_compliant_nested_type=False, **small)


if __name__ == "__main__":
    write_all(sys.argv[1])
