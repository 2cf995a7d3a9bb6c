"""Three shards of twenty generated photos, with records broken in the ways that real data sets are."""
import pathlib
import re
import tarfile

from support.photos import jpeg, numpy, photo, picture
from support.tars import write_tar

SHARDS, RECORDS = 3, 20
COUNT = SHARDS * RECORDS


def key(sample):
    return f"r{sample:04d}"


def files_of(sample, content=None, label=None):
    made, number = photo(sample)
    return [(key(sample) + ".jpg", made if content is None else content),
            (key(sample) + ".cls", str(number).encode() if label is None else label)]


def huge_header():
    """A well-formed JPEG whose header says 65000 x 65000."""
    whole = jpeg(picture(1, 64, 64))
    start = re.search(rb"\xff\xc0\x00\x11\x08", whole).end()
    size = (65000).to_bytes(2, "big")
    return whole[:start] + size + size + whole[start + 4:]


def noise(count, seed=3):
    return numpy.random.default_rng(seed).integers(0, 256, count, dtype=numpy.uint8).tobytes()


def no_jpeg():
    """The first bytes of a JPEG, then noise."""
    return b"\xff\xd8\xff\xe0" + noise(3000)


def cut_jpeg(sample):
    """Half of a photo, as after an interrupted download."""
    whole, _ = photo(sample)
    return whole[:len(whole) // 2]


# {sample id: (reason in the metrics, a word of the log line, the record's files)}
BAD = {
    21: ("corrupt", "jpg", files_of(21, content=no_jpeg())),
    23: ("too_large", "65000", files_of(23, content=huge_header())),
    25: ("corrupt", "jpg", files_of(25, content=b"")),
    27: ("missing", "cls", files_of(27)[:1]),
    29: ("invalid", "cat", files_of(29, label=b"cat")),
    31: ("invalid", "cls", files_of(31, label=b"")),
    33: ("missing", "jpg", files_of(33)[1:]),
    35: ("corrupt", "jpg", files_of(35, content=cut_jpeg(35))),
}
# The last record of the last shard; the tar ends inside it.
CUT = COUNT - 1


def shard_path(folder, shard):
    return pathlib.Path(folder, f"photos-{shard:06d}.tar")


def write_shard(folder, shard, bad=()):
    """Good records, except the sample ids in `bad`."""
    files = []
    for sample in range(shard * RECORDS, (shard + 1) * RECORDS):
        files += BAD[sample][2] if sample in bad else files_of(sample)
    write_tar(shard_path(folder, shard), files)


def write_good(folder):
    for shard in range(SHARDS):
        write_shard(folder, shard)


def cut_in_last_photo(path):
    """Ends the tar in the middle of its last photo."""
    with tarfile.open(path) as tar:
        last = [member for member in tar if member.name.endswith(".jpg")][-1]
    with open(path, "r+b") as file:
        file.truncate(last.offset_data + last.size // 2)


def write_bad(folder):
    """All of BAD in shard 1; shard 2 ends inside its last record."""
    write_shard(folder, 0)
    write_shard(folder, 1, bad=BAD)
    write_shard(folder, 2)
    cut_in_last_photo(shard_path(folder, 2))


def url(folder):
    return f"{folder}/photos-{{000000..{SHARDS - 1:06d}}}.tar"


def offset(folder, sample):
    """The byte in its shard at which the record's first header begins."""
    with open(shard_path(folder, sample // RECORDS), "rb") as file:
        content = file.read()
    return content.index(key(sample).encode() + b".")
