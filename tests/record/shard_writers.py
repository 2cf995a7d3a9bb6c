"""TFRecord files, MDS data sets and their parts, written without any of their libraries, for tests that read them."""
import json
import pathlib
import struct

TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def delimited(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(values, packed=True):
    """bytes, int or float, or a list of them."""
    values = values if isinstance(values, list) else [values]
    if values and isinstance(values[0], bytes):
        return delimited(1, b"".join(delimited(1, value) for value in values))
    if values and isinstance(values[0], float):
        parts = [struct.pack("<f", value) for value in values]
        return delimited(2, delimited(1, b"".join(parts)) if packed else b"".join(b"\x0d" + part for part in parts))
    parts = [varint(value) for value in values]
    return delimited(3, delimited(1, b"".join(parts)) if packed else b"".join(b"\x08" + part for part in parts))


def example(features, packed=True):
    entries = [delimited(1, delimited(1, name.encode()) + delimited(2, feature(values, packed)))
               for name, values in features.items()]
    return delimited(1, b"".join(entries))


def frame(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def write_tfrecord(path, examples, packed=True):
    pathlib.Path(path).write_bytes(b"".join(frame(example(features, packed)) for features in examples))


SIZES = {"int": 8, "uint8": 1, "uint16": 2, "int32": 4, "int64": 8, "float32": 4, "float64": 8}


def column_size(encoding):
    if encoding.startswith("ndarray:") and encoding.count(":") == 2:
        _, dtype, shape = encoding.split(":")
        count = SIZES[dtype]
        for size in shape.split(","):
            count *= int(size)
        return count
    return SIZES.get(encoding)


def mds_sample(columns, values):
    """`values` are the encoded bytes by column."""
    head = b"".join(struct.pack("<I", len(values[name])) for name in sorted(columns)
                    if column_size(columns[name]) is None)
    return head + b"".join(values[name] for name in sorted(columns))


def write_mds(folder, columns, samples, shard_samples):
    """`columns` maps names to encodings, `samples` are dictionaries of encoded bytes."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(columns)
    config = {"version": 2, "format": "mds", "compression": None, "hashes": [], "size_limit": 1 << 26,
              "column_names": names, "column_encodings": [columns[name] for name in names],
              "column_sizes": [column_size(columns[name]) for name in names]}
    config_text = json.dumps(config, sort_keys=True).encode()
    shards = []
    for number in range(0, len(samples), shard_samples):
        parts = [mds_sample(columns, values) for values in samples[number:number + shard_samples]]
        offsets = [4 + 4 * (len(parts) + 1) + len(config_text)]
        for part in parts:
            offsets.append(offsets[-1] + len(part))
        content = struct.pack(f"<{len(offsets) + 1}I", len(parts), *offsets) + config_text + b"".join(parts)
        name = f"shard.{len(shards):05d}.mds"
        (folder / name).write_bytes(content)
        shards.append({**config, "samples": len(parts), "zip_data": None,
                       "raw_data": {"basename": name, "bytes": len(content), "hashes": {}}})
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": shards}, sort_keys=True))
