#!/usr/bin/env python3
"""The loops of other libraries over the photos of tar shards, for decode.py: read, decode, random_resized_crop to 224,
flip. Each prints {"photos", "cpu_seconds"}.

    decode_loops.py pillow|simplejpeg|opencv TAR...

simplejpeg decodes, and Pillow, which can be Pillow-SIMD, resizes: bilinear with antialiasing, as Echoline does. OpenCV
decodes and resizes bilinearly without antialiasing: less work, other pixels."""
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


def resized(picture):
    """A random crop of a Pillow image as [224, 224, 3]."""
    picture = picture.resize((224, 224), Image.BILINEAR, box=crop_box(*picture.size))
    return picture.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else picture


def by_pillow(data):
    return resized(Image.open(io.BytesIO(data)).convert("RGB"))


def by_simplejpeg(data):
    import simplejpeg

    try:
        return resized(Image.fromarray(simplejpeg.decode_jpeg(data, colorspace="RGB")))
    except ValueError:  # not a JPEG, or CMYK
        return by_pillow(data)


def by_opencv(data):
    import cv2

    cv2.setNumThreads(1)
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    left, top, right, bottom = crop_box(picture.shape[1], picture.shape[0])
    picture = cv2.cvtColor(cv2.resize(picture[top:bottom, left:right], (224, 224)), cv2.COLOR_BGR2RGB)
    return cv2.flip(picture, 1) if random.random() < 0.5 else picture


def main(prepare, paths):
    encoded = photos(paths)
    batch = numpy.empty((32, 224, 224, 3), numpy.uint8)
    begin = time.process_time()
    for place, data in enumerate(encoded):
        batch[place % len(batch)] = prepare(data)
    print(json.dumps({"photos": len(encoded), "cpu_seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main({"pillow": by_pillow, "simplejpeg": by_simplejpeg, "opencv": by_opencv}[sys.argv[1]], sys.argv[2:])
