"""Makes a small data set of made pictures: webdataset shards of 16 x 16 grey pixels (`u8`) with their class (`cls`).

usage: samples.py FOLDER [RECORDS [SHARDS]]     (4,000 records in 4 shards; numpy only)

Each of ten classes is a smooth pattern; a record is its pattern, darkened or lightened, under noise.
"""
import io
import pathlib
import sys
import tarfile

import numpy as np

CLASSES, SIDE = 10, 16


def pictures(count, seed=1):
    """(pixels, classes), the same every time."""
    random = np.random.default_rng(seed)
    coarse = random.uniform(40, 215, (CLASSES, 4, 4))
    patterns = np.kron(coarse, np.ones((SIDE // 4, SIDE // 4)))
    classes = random.integers(0, CLASSES, count)
    light = random.uniform(0.7, 1.1, (count, 1, 1))
    pixels = patterns[classes] * light + random.normal(0, 40, (count, SIDE, SIDE))
    return pixels.clip(0, 255).astype(np.uint8), classes


def write_shard(path, first, pixels, classes):
    with tarfile.open(path, "w") as shard:
        for number, (picture, label) in enumerate(zip(pixels, classes), first):
            for extension, data in (("u8", picture.tobytes()), ("cls", str(label).encode())):
                member = tarfile.TarInfo(f"{number:06d}.{extension}")
                member.size = len(data)
                shard.addfile(member, io.BytesIO(data))


def main():
    folder = pathlib.Path(sys.argv[1])
    records, shards = (int(number) for number in (sys.argv[2:] + ["4000", "4"][len(sys.argv) - 2:])[:2])
    pixels, classes = pictures(records)
    folder.mkdir(parents=True, exist_ok=True)
    for shard, rows in enumerate(np.array_split(np.arange(records), shards)):
        write_shard(folder / f"samples-{shard:03d}.tar", rows[0], pixels[rows], classes[rows])
    print(f"{records} records in {shards} shards in {folder}")


if __name__ == "__main__":
    main()
