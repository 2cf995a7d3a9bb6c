"""Records of one kind in every format, for tests in which a proxy changes bytes between the store and the daemon."""
import gzip
import random
import struct
import subprocess

from support.tars import write_tar

import shard_writers  # of tests/record

PIXELS = 32 * 32 * 3
STEPS = {"tokens": "decode: {x: {key: tokens, as: uint16, shape: [1536]}}",
         "idx": "decode: {image: {key: image, as: uint8, shape: [32, 32, 3]}, label: {key: label, as: int64}}"}
DECODE = "decode: {image: {key: u8, as: uint8, shape: [32, 32, 3]}, label: {key: cls, as: int64}}"


class FlippedSet:
    """One data set in a store: what `read` and `decode` need, and how it is shuffled."""

    def __init__(self, form, address, window="all", more="", web=False):
        self.form, self.address, self.window, self.more, self.web = form, address, window, more, web
        self.decode = STEPS.get(address.partition("/")[0], DECODE)


# By name. Addresses are relative to the bucket, or to the web server.
SETS = {
    "webdataset": FlippedSet("webdataset", "tar/*.tar"),
    "webdataset, long names": FlippedSet("webdataset", "long/*.tar"),
    "webdataset, large": FlippedSet("webdataset", "large/*.tar"),
    "webdataset, gzip": FlippedSet("webdataset", "gzip/*.tar.gz", window="200"),
    "webdataset, zstd": FlippedSet("webdataset", "zstd/*.tar.zst", window="200"),
    "tfrecord": FlippedSet("tfrecord", "tfrecord/*.tfrecord"),
    "mds": FlippedSet("mds", "mds/"),
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
    "tokens of a web server": FlippedSet("tokens", "tokens/{0..2}.npy", more=", tokens: {length: 1536}", web=True),
}


def write_sets(folder, count=600, shards=3):
    """Writes the files of all data sets below `folder`."""
    draw = random.Random(1)
    records = [(draw.randbytes(PIXELS), number % 7, draw.randbytes(draw.randrange(9_000))) for number in range(count)]
    for name in ("tar", "long", "large", "gzip", "zstd", "tfrecord", "idx", "tokens", "folder"):
        (folder / name).mkdir()
    for shard in range(shards):
        part = list(enumerate(records))[shard * count // shards:(shard + 1) * count // shards]
        _write_tars(folder, shard, part)
        shard_writers.write_tfrecord(folder / "tfrecord" / f"{shard}.tfrecord", [
            {"u8": pixels, "cls": label, "pad": ballast} for _, (pixels, label, ballast) in part])
        tokens = b"".join(pixels for _, (pixels, _, _) in part)
        (folder / "tokens" / f"{shard}.npy").write_bytes(_npy_head(len(tokens) // 2) + tokens)
    write_tar(folder / "large" / "0.tar", [
        (f"{number:06d}.{name}", content) for number, (pixels, label, _) in enumerate(records[:4])
        for name, content in (("u8", pixels), ("cls", str(label).encode()), ("pad", draw.randbytes(5 << 20)))])
    shard_writers.write_mds(folder / "mds", {"u8": "bytes", "cls": "int", "pad": "bytes"}, [
        {"u8": pixels, "cls": struct.pack("<q", label), "pad": ballast} for pixels, label, ballast in records],
        count // shards)
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
    packed = subprocess.run(["zstd", "-q", "-1", "--no-check", "-c"], input=plain, stdout=subprocess.PIPE, check=True)
    (folder / "zstd" / f"{shard}.tar.zst").write_bytes(packed.stdout)
    write_tar(folder / "long" / f"{shard}.tar",
              [("of-a-folder-" * 12 + "/" + name, content) for name, content in members])


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
