"""As decode.py, for photos of 12 megapixels, and with `fast: true`, compared with loops that decode at a part of the size."""
import functools
import pathlib
import tempfile

import decode
from support import photos
from support.tars import write_tar

PROGRAMS = ()
BATCH = 4  # no remainder in an epoch of 12 photos
# As decode.PEERS.
REDUCED_PEERS = {
    "simplejpeg and Pillow-SIMD, reduced": ("pillow_simd", "pillow-simd", "simplejpeg_reduced", ""),
    "Pillow, reduced": ("pillow", "pillow", "pillow_reduced", ""),
    "OpenCV, reduced": ("opencv", "opencv-python-headless", "opencv_reduced", "no antialiasing"),
}


def large_photos(folder, count):
    """Photos of 12 megapixels, each made of nine real ones or generated ones."""
    sources = [photos.Image.open(photos.io.BytesIO(data)).convert("RGB") for data, _ in photos.records(
        photos.shards(folder)[:1])[:9 + count]]
    files = []
    for place in range(count):
        picture = photos.Image.new("RGB", (4000, 3000))
        for part in range(9):
            tile = sources[(place + part) % len(sources)].resize((1334, 1000), photos.Image.BICUBIC)
            picture.paste(tile, (part % 3 * 1333, part // 3 * 1000))
        files += [(f"{place:04d}.jpg", photos.jpeg(picture)), (f"{place:04d}.cls", b"1")]
    path = pathlib.Path(folder, "large.tar")
    write_tar(path, files)
    return [path]


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        paths = large_photos(folder, BATCH if options.quick else 3 * BATCH)
        ways = decode.ways_of(paths, BATCH, options, REDUCED_PEERS)
        fast = functools.partial(decode.measure_daemon, options.daemon, paths, BATCH, fast=True)
        return [decode.table("Photos of 12 megapixels", {"Echoline, fast: true": fast} | ways, options)]
