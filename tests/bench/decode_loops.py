#!/usr/bin/env python3
"""The loops of other libraries over the photos of tar shards, for decode.py: read, decode, random_resized_crop to 224,
flip. Each prints {"photos", "cpu_seconds"}.

    decode_loops.py pillow|simplejpeg|opencv[-reduced] TAR...

simplejpeg decodes, and Pillow, which can be Pillow-SIMD, resizes: bilinear with antialiasing, as Echoline does. OpenCV
decodes and resizes bilinearly without antialiasing: less work, other pixels. With -reduced they decode at a part of the
size where the crop stays at least as large as the result, as Echoline does with fast."""
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


SIDE = 224


def reduction(box):
    """1, 2, 4 or 8: how much smaller the sides of a crop may be made."""
    ratio = min(box[2] - box[0], box[3] - box[1]) // SIDE
    return max(by for by in (1, 2, 4, 8) if by <= max(ratio, 1))


def resized(picture, box=None):
    """A random crop of a Pillow image as [224, 224, 3]."""
    picture = picture.resize((SIDE, SIDE), Image.BILINEAR, box=box or crop_box(*picture.size))
    return picture.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else picture


def by_pillow(data):
    return resized(Image.open(io.BytesIO(data)).convert("RGB"))


def scaled(box, size, whole):
    """The box in a picture of another size; rounding of sizes must not move it out."""
    x, y = size[0] / whole[0], size[1] / whole[1]
    return box[0] * x, box[1] * y, min(box[2] * x, size[0]), min(box[3] * y, size[1])


def by_pillow_reduced(data):
    picture = Image.open(io.BytesIO(data))
    whole, box = picture.size, crop_box(*picture.size)
    by = reduction(box)
    picture.draft("RGB", (whole[0] // by, whole[1] // by))
    return resized(picture.convert("RGB"), scaled(box, picture.size, whole))


def by_simplejpeg_reduced(data):
    import simplejpeg

    try:
        height, width = simplejpeg.decode_jpeg_header(data)[:2]
        box = crop_box(width, height)
        by = reduction(box)
        pixels = simplejpeg.decode_jpeg(data, "RGB", min_height=height // by, min_width=width // by)
        return resized(Image.fromarray(pixels), scaled(box, pixels.shape[1::-1], (width, height)))
    except ValueError:  # not a JPEG, or CMYK
        return by_pillow_reduced(data)


def by_opencv_reduced(data):
    import cv2

    cv2.setNumThreads(1)
    whole = Image.open(io.BytesIO(data)).size
    box = crop_box(*whole)
    flag = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4,
            8: cv2.IMREAD_REDUCED_COLOR_8}[reduction(box)]
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), flag)
    left, top, right, bottom = (round(edge) for edge in scaled(box, picture.shape[1::-1], whole))
    picture = cv2.cvtColor(cv2.resize(picture[top:bottom, left:right], (SIDE, SIDE)), cv2.COLOR_BGR2RGB)
    return cv2.flip(picture, 1) if random.random() < 0.5 else picture


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
    picture = cv2.cvtColor(cv2.resize(picture[top:bottom, left:right], (SIDE, SIDE)), cv2.COLOR_BGR2RGB)
    return cv2.flip(picture, 1) if random.random() < 0.5 else picture


def main(prepare, paths):
    encoded = photos(paths)
    batch = numpy.empty((32, SIDE, SIDE, 3), numpy.uint8)
    begin = time.process_time()
    for place, data in enumerate(encoded):
        batch[place % len(batch)] = prepare(data)
    print(json.dumps({"photos": len(encoded), "cpu_seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main({"pillow": by_pillow, "simplejpeg": by_simplejpeg, "opencv": by_opencv, "pillow-reduced": by_pillow_reduced,
          "simplejpeg-reduced": by_simplejpeg_reduced, "opencv-reduced": by_opencv_reduced}[sys.argv[1]], sys.argv[2:])
