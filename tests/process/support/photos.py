"""Shards of photos: real ones where ECHOLINE_TEST_DATA names them, else generated pictures with the slopes, edges and
noise of photos."""
import io
import os
import pathlib
import tarfile

from support.programs import skip
from support.tars import write_tar

try:
    import numpy
    from PIL import Image
except ImportError as missing:
    skip(f"{missing}; python3-numpy and python3-pil are needed")


def picture(seed, width, height):
    random = numpy.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 256, (5, 6, 3), dtype=numpy.uint8), "RGB")
    pixels = numpy.asarray(coarse.resize((width, height), Image.BICUBIC)).astype(float)
    top, left = random.integers(0, height // 2), random.integers(0, width // 2)
    pixels[top:top + height // 3, left:left + width // 4] = random.integers(0, 256, 3)
    pixels += random.normal(0, 8, pixels.shape)
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8), "RGB")


def jpeg(image, quality=90):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def photo(seed):
    """(bytes of a JPEG whose size depends on `seed`, label)"""
    return jpeg(picture(seed, 96 + seed * 37 % 160, 96 + seed * 53 % 120)), seed % 10


def pipeline(url, read="", side=8, batch=4, publish=""):
    """The steps of a small stream of photos; `read` and `publish` are more keys of these steps, from a comma on."""
    return [f"read: {{url: '{url}'{read}}}", "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
            f"resize: {{field: image, size: [{side}, {side}]}}", f"batch: {{size: {batch}}}",
            publish and f"publish: {{{publish}}}"]


def made_shards(folder, shards=3, records=20):
    """Paths of new shards of generated photos."""
    paths = []
    for shard in range(shards):
        files = []
        for record in range(records):
            content, label = photo(shard * records + record)
            files += [(f"{record:04d}.jpg", content), (f"{record:04d}.cls", str(label).encode())]
        paths.append(pathlib.Path(folder, f"photos-{shard:06d}.tar"))
        write_tar(paths[-1], files)
    return paths


def shards(folder):
    """Paths of the real tars, else of generated ones in `folder`."""
    data = os.environ.get("ECHOLINE_TEST_DATA")
    real = sorted(pathlib.Path(data, "imagenet").glob("*.tar")) if data else []
    return real or made_shards(folder)


def records(paths):
    """[(bytes of the JPEG, label)] in the order of the index."""
    found = []
    for path in paths:
        with tarfile.open(path) as tar:
            parts = {}
            for member in tar:
                key, _, extension = member.name.rpartition(".")
                parts.setdefault(key, {})[extension] = tar.extractfile(member).read()
        found += [(part["jpg"], int(part["cls"])) for part in parts.values()]
    return found
