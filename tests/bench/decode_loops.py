#!/usr/bin/env python3
"""The loops of other libraries over the photos of tar shards, for decode.py: read, decode, random_resized_crop to 224 with
bilinear antialiasing, flip. Each prints {"photos", "cpu_seconds"}.

    decode_loops.py pillow|simplejpeg TAR...        simplejpeg decodes, Pillow resizes; Pillow can be Pillow-SIMD"""
import io
import json
import math
import random
import sys
import tarfile
import time

import numpy
from PIL import Image


def photos(paths):
    found = []
    for path in paths:
        with tarfile.open(path) as tar:
            found += [tar.extractfile(member).read() for member in tar if member.name.endswith(".jpg")]
    return found


def crop_box(width, height):
    """torchvision's RandomResizedCrop.get_params."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < high <= height:
            left, top = random.randint(0, width - wide), random.randint(0, height - high)
            return left, top, left + wide, top + high
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, (width + side) // 2, (height + side) // 2


def by_pillow(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def by_simplejpeg(data):
    import simplejpeg

    try:
        return Image.fromarray(simplejpeg.decode_jpeg(data, colorspace="RGB"))
    except ValueError:  # not a JPEG, or CMYK
        return by_pillow(data)


def main(decode, paths):
    encoded = photos(paths)
    batch = numpy.empty((32, 224, 224, 3), numpy.uint8)
    begin = time.process_time()
    for place, data in enumerate(encoded):
        picture = decode(data)
        picture = picture.resize((224, 224), Image.BILINEAR, box=crop_box(*picture.size))
        if random.random() < 0.5:
            picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
        batch[place % len(batch)] = picture
    print(json.dumps({"photos": len(encoded), "cpu_seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main({"pillow": by_pillow, "simplejpeg": by_simplejpeg}[sys.argv[1]], sys.argv[2:])
