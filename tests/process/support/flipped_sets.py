"""Records of one kind in every format, for tests in which a proxy changes bytes between the store and the daemon."""
import gzip
import io
import json
import random
import struct
import subprocess
import tarfile

from support import megatron_files, parquet_files
from support.tars import write_tar

import shard_writers  # of tests/record

PIXELS = 32 * 32 * 3
STEPS = {"tokens": "decode: {x: {key: tokens, as: uint16, shape: [1536]}}",
         "megatron": "decode: {x: {key: tokens, as: uint16, shape: [3000], ragged: true}}",
         "lines": "decode: {x: {key: text, as: bytes, max_bytes: 20000}}",
         "jsonl": "decode: {x: {key: text, as: text, max_bytes: 20000}, label: {key: cls, as: int64}}",
         "idx": "decode: {image: {key: image, as: uint8, shape: [32, 32, 3]}, label: {key: label, as: int64}}"}
DECODE = "decode: {image: {key: u8, as: uint8, shape: [32, 32, 3]}, label: {key: cls, as: int64}}"


class FlippedSet:
    """One data set in a store: what `read` and `decode` need, and how it is shuffled."""

    def __init__(self, form, address, window="all", more="", web=False):
        self.form, self.address, self.window, self.more, self.web = form, address, window, more, web
        self.decode = STEPS.get(form, DECODE)


# By name. Addresses are relative to the bucket, or to the web server.
SETS = {
    "webdataset": FlippedSet("webdataset", "tar/*.tar"),
    "webdataset, long names": FlippedSet("webdataset", "long/*.tar"),
    "webdataset, large": FlippedSet("webdataset", "large/*.tar"),
    "webdataset, links": FlippedSet("webdataset", "links/*.tar"),
    "webdataset, a list of wids": FlippedSet("webdataset", "tar/shardindex.json"),
    "webdataset, gzip": FlippedSet("webdataset", "gzip/*.tar.gz", window="200"),
    "webdataset, zstd": FlippedSet("webdataset", "zstd/*.tar.zst", window="200"),
    "tfrecord": FlippedSet("tfrecord", "tfrecord/*.tfrecord"),
    "tfrecord, an index of DALI": FlippedSet("tfrecord", "dali/*.tfrecord"),
    "tfrecord, gzip": FlippedSet("tfrecord", "tfgzip/*.tfrecord.gz", window="200"),
    "mds": FlippedSet("mds", "mds/"),
    "mds, zstd": FlippedSet("mds", "mdszstd/", window="200"),
    "parquet": FlippedSet("parquet", "parquet/*.parquet", window="200"),
    "lines": FlippedSet("lines", "lines/*.txt"),
    "jsonl": FlippedSet("jsonl", "jsonl/*.jsonl"),
    "jsonl, gzip": FlippedSet("jsonl", "jsonlgzip/*.jsonl.gz", window="200"),
    "megatron": FlippedSet("megatron", "megatron/*.bin"),
    "idx": FlippedSet("idx", "idx/{images,labels}.idx"),
    "tokens": FlippedSet("tokens", "tokens/*.npy", more=", tokens: {length: 1536}"),
    "folder": FlippedSet("folder", "folder/"),
    "files": FlippedSet("files", "list.csv", more=", classes: '{root}classes.txt'"),
    # Without checksums of whole objects:
    "files of a web server": FlippedSet("files", "list.csv", more=", classes: '{root}classes.txt'", web=True),
    "webdataset of a web server": FlippedSet("webdataset", "tar/{0..2}.tar", web=True),
    "long names of a web server": FlippedSet("webdataset", "long/{0..2}.tar", web=True),
    "gzip of a web server": FlippedSet("webdataset", "gzip/{0..2}.tar.gz", window="200", web=True),
    "zstd of a web server": FlippedSet("webdataset", "zstd/{0..2}.tar.zst", window="200", web=True),
    "tfrecord of a web server": FlippedSet("tfrecord", "tfrecord/{0..2}.tfrecord", web=True),
    "mds of a web server": FlippedSet("mds", "mds/index.json", web=True),
    "parquet of a web server": FlippedSet("parquet", "parquet/{0..2}.parquet", window="200", web=True),
    "jsonl of a web server": FlippedSet("jsonl", "jsonl/{0..2}.jsonl", web=True),
    "idx of a web server": FlippedSet("idx", "idx/{images,labels}.idx", web=True),
    "tokens of a web server": FlippedSet("tokens", "tokens/{0..2}.npy", more=", tokens: {length: 1536}", web=True),
}
FOLDERS = ("tar", "long", "links", "large", "gzip", "zstd", "tfrecord", "dali", "tfgzip", "parquet", "lines", "jsonl",
           "jsonlgzip", "megatron", "idx", "tokens", "folder")


def can_write(data_set):
    return data_set.form != "parquet" or parquet_files.python() is not None


def write_sets(folder, count=600, shards=3):
    """Writes the files of all data sets below `folder`."""
    draw = random.Random(1)
    records = [(draw.randbytes(PIXELS), number % 7, draw.randbytes(draw.randrange(9_000))) for number in range(count)]
    for name in FOLDERS:
        (folder / name).mkdir()
    parquet = {}
    for shard in range(shards):
        part = list(enumerate(records))[shard * count // shards:(shard + 1) * count // shards]
        _write_tars(folder, shard, part)
        _write_tfrecords(folder, shard, part)
        _write_lines(folder, shard, part)
        parquet[folder / "parquet" / f"{shard}.parquet"] = [(pixels, label) for _, (pixels, label, _) in part]
        megatron_files.write_pair(folder / "megatron" / str(shard), [
            memoryview(pixels[:2 * (1 + number * 37 % 1500)]).cast("H").tolist() for number, (pixels, _, _) in part])
        tokens = b"".join(pixels for _, (pixels, _, _) in part)
        (folder / "tokens" / f"{shard}.npy").write_bytes(_npy_head(len(tokens) // 2) + tokens)
    write_tar(folder / "large" / "0.tar", [
        (f"{number:06d}.{name}", content) for number, (pixels, label, _) in enumerate(records[:4])
        for name, content in (("u8", pixels), ("cls", str(label).encode()), ("pad", draw.randbytes(5 << 20)))])
    shard_writers.write_mds(folder / "mds", {"u8": "bytes", "cls": "int", "pad": "bytes"}, [
        {"u8": pixels, "cls": struct.pack("<q", label), "pad": ballast} for pixels, label, ballast in records],
        count // shards)
    if parquet_files.python():
        parquet_files.write_records(parquet)
    _pack_mds(folder / "mds", folder / "mdszstd")
    (folder / "tar" / "shardindex.json").write_text(json.dumps(
        {"shardlist": [{"url": f"{shard}.tar"} for shard in range(shards)]}))
    (folder / "idx" / "images.idx").write_bytes(
        struct.pack(">BBBBIIII", 0, 0, 8, 4, count, 32, 32, 3) + b"".join(pixels for pixels, _, _ in records))
    (folder / "idx" / "labels.idx").write_bytes(
        struct.pack(">BBBBI", 0, 0, 8, 1, count) + bytes(label for _, label, _ in records))
    _write_files(folder, records)


def _write_tars(folder, shard, part):
    members = [(f"{number:06d}.{name}", content) for number, (pixels, label, ballast) in part
               for name, content in (("u8", pixels), ("cls", str(label).encode()), ("pad", ballast))]
    write_tar(folder / "tar" / f"{shard}.tar", members)
    plain = (folder / "tar" / f"{shard}.tar").read_bytes()
    (folder / "gzip" / f"{shard}.tar.gz").write_bytes(gzip.compress(plain, 1))
    # Without a checksum in the file: damage is not detected by unpacking.
    (folder / "zstd" / f"{shard}.tar.zst").write_bytes(_zstd(plain))
    write_tar(folder / "long" / f"{shard}.tar",
              [("of-a-folder-" * 12 + "/" + name, content) for name, content in members])


    with tarfile.open(folder / "links" / f"{shard}.tar", "w") as tar:
        for label in range(7):
            _add_file(tar, f"labels/{label}", str(label).encode())
        for number, (pixels, label, _) in part:
            _add_file(tar, f"{number:06d}.u8", pixels)
            link = tarfile.TarInfo(f"{number:06d}.cls")
            link.type, link.linkname = tarfile.LNKTYPE, f"labels/{label}"
            tar.addfile(link)


def _add_file(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _zstd(plain):
    return subprocess.run(["zstd", "-q", "-1", "--no-check", "-c"], input=plain, stdout=subprocess.PIPE, check=True).stdout


def _write_tfrecords(folder, shard, part):
    plain = folder / "tfrecord" / f"{shard}.tfrecord"
    shard_writers.write_tfrecord(plain, [
        {"u8": pixels, "cls": label, "pad": ballast} for _, (pixels, label, ballast) in part])
    content = plain.read_bytes()
    (folder / "dali" / plain.name).write_bytes(content)
    (folder / "tfgzip" / f"{plain.name}.gz").write_bytes(gzip.compress(content, 1))
    at, lines = 0, []
    while at < len(content):
        size = 16 + struct.unpack_from("<Q", content, at)[0]
        lines.append(f"{at} {size}\n")
        at += size
    (folder / "dali" / f"{shard}.idx").write_text("".join(lines))


def _write_lines(folder, shard, part):
    texts = [pixels.hex() for _, (pixels, _, _) in part]
    (folder / "lines" / f"{shard}.txt").write_text("".join(f"{text}\n" for text in texts))
    lines = "".join(json.dumps({"text": text, "cls": label}) + "\n"
                    for text, (_, (_, label, _)) in zip(texts, part, strict=True))
    (folder / "jsonl" / f"{shard}.jsonl").write_text(lines)
    (folder / "jsonlgzip" / f"{shard}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 1))


def _pack_mds(plain, packed):
    """The same data set with shards that are compressed as a whole."""
    packed.mkdir()
    index = json.loads((plain / "index.json").read_text())
    for shard in index["shards"]:
        name = shard["raw_data"]["basename"]
        content = _zstd((plain / name).read_bytes())
        (packed / f"{name}.zstd").write_bytes(content)
        shard.update(compression="zstd", zip_data={"basename": f"{name}.zstd", "bytes": len(content), "hashes": {}})
    (packed / "index.json").write_text(json.dumps(index))


def _npy_head(count):
    text = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n"


def _write_files(folder, records):
    lines = ["path,label"]
    for number, (pixels, label, _) in enumerate(records[:200]):
        name = f"folder/class-{label}/{number:04d}.u8"
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(pixels)
        lines.append(f"{name},class-{label}")
    (folder / "list.csv").write_text("\n".join(lines) + "\n")
    (folder / "classes.txt").write_text("".join(f"class-{label}\n" for label in range(7)))
