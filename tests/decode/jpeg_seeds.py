#!/usr/bin/env python3
"""Writes inputs for jpeg_fuzz: small files of each sampling, size and quality, made with cjpeg of libjpeg-turbo, and
photos of a tar, cut off. tests/fuzz_runs.py continues with what is in its folder.

    tests/decode/jpeg_seeds.py build/fuzz/fuzz_runs/jpeg --photos photos.tar"""
import argparse
import pathlib
import random
import subprocess
import tarfile

SIDE_MAX = 70
LENGTH = 4096  # as in tests/fuzz_runs.py
SAMPLINGS = ("1x1", "2x1", "2x2", "1x2", "4x1")


def pixels(draw):
    """A PPM file of noise with a random grain, so that blocks have from none to all of their coefficients."""
    width, height, grain = draw.randint(1, SIDE_MAX), draw.randint(1, SIDE_MAX), draw.choice((1, 2, 5, 16, SIDE_MAX))
    noise = {}
    colors = [noise.setdefault((x // grain, y // grain), draw.randbytes(3)) for y in range(height) for x in range(width)]
    return b"P6 %d %d 255\n" % (width, height) + b"".join(colors)


def jpeg_file(draw):
    options = ["-quality", str(draw.randint(1, 100)), "-sample", draw.choice(SAMPLINGS)]
    options += draw.choices((["-optimize"], [], ["-progressive"], ["-arithmetic"]), (10, 10, 1, 1))[0]
    options += ["-grayscale"] if draw.random() < 0.2 else []
    options += ["-restart", f"{draw.randint(1, 9)}B"] if draw.random() < 0.3 else []
    return subprocess.run(["cjpeg", *options], input=pixels(draw), capture_output=True, check=True).stdout


def photos_of(path):
    with tarfile.open(path) as tar:
        return [tar.extractfile(member).read() for member in tar if member.name.lower().endswith((".jpg", ".jpeg"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=2000, help="made files; default: 2000")
    parser.add_argument("--photos", type=pathlib.Path, help="a tar of JPEG files")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    files = [jpeg_file(draw) for _ in range(options.count)] + (photos_of(options.photos) if options.photos else [])
    for number, file in enumerate(files):
        # The first byte chooses colours and region.
        (options.folder / f"seed-{number:05d}").write_bytes((draw.randbytes(1) + file)[:LENGTH])


if __name__ == "__main__":
    main()
