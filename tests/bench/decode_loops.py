#!/usr/bin/env python3
"""The loops of other libraries over the photos of tar shards, for decode.py: decode, random_resized_crop to 224, flip.
Prints {"photos", "cpu_seconds"}.

    decode_loops.py LOOP TAR...    with the interpreter of a set that has what the loop needs

Pillow, Pillow-SIMD, simplejpeg with one of them, torchvision, DALI, mlx-data and "tf_data_antialiased" resize bilinearly
with antialiasing, as Echoline does; the other loops do less work, or other work. All use one thread, as far as they allow
it; CPU time is that of the whole process, from the end of the first batch on."""
import io
import itertools
import json
import math
import random
import sys
import tarfile
import time

import numpy

SIDE = 224


def photos(paths):
    found = []
    for path in paths:
        with tarfile.open(path) as tar:
            found += [tar.extractfile(member).read() for member in tar if member.name.endswith(".jpg")]
    return found


def crop_box(width, height):
    """torchvision's RandomResizedCrop.get_params: (left, top, width, height)."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < high <= height:
            return random.randint(0, width - wide), random.randint(0, height - high), wide, high
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


def rows(prepare, encoded, batch):
    """The loop of a library that prepares one photo at a time: writes rows into a batch, yields the number of rows."""
    made = numpy.empty((batch, SIDE, SIDE, 3), numpy.uint8)
    for first in range(0, len(encoded), batch):
        for place, data in enumerate(encoded[first:first + batch]):
            made[place] = prepare(data)
        yield batch


def pillow(encoded, batch):
    from PIL import Image

    return rows(lambda data: resized(Image.open(io.BytesIO(data)).convert("RGB")), encoded, batch)


def resized(picture):
    from PIL import Image

    left, top, wide, high = crop_box(*picture.size)
    picture = picture.resize((SIDE, SIDE), Image.BILINEAR, box=(left, top, left + wide, top + high))
    return picture.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else picture


def simplejpeg(encoded, batch):
    import simplejpeg as library
    from PIL import Image

    def prepare(data):
        try:
            return resized(Image.fromarray(library.decode_jpeg(data, colorspace="RGB")))
        except ValueError:  # not a JPEG, or CMYK
            return resized(Image.open(io.BytesIO(data)).convert("RGB"))

    return rows(prepare, encoded, batch)


def torchvision(encoded, batch):
    from PIL import Image
    from torchvision import transforms

    chain = transforms.Compose([transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip()])
    return rows(lambda data: chain(Image.open(io.BytesIO(data)).convert("RGB")), encoded, batch)


def opencv(encoded, batch):
    import cv2

    cv2.setNumThreads(1)

    def prepare(data):
        picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
        left, top, wide, high = crop_box(picture.shape[1], picture.shape[0])
        picture = cv2.cvtColor(cv2.resize(picture[top:top + high, left:left + wide], (SIDE, SIDE)), cv2.COLOR_BGR2RGB)
        return cv2.flip(picture, 1) if random.random() < 0.5 else picture

    return rows(prepare, encoded, batch)


def tf_data(encoded, batch, antialias=False):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def prepare(data):
        picture = tf.image.decode_and_crop_jpeg(data, crop_window(data), channels=3, dct_method="INTEGER_ACCURATE")
        picture = tf.image.resize(picture, (SIDE, SIDE), antialias=antialias)
        return tf.cast(tf.image.random_flip_left_right(picture), tf.uint8)

    def crop_window(data):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0), max_attempts=10,
            aspect_ratio_range=(3 / 4, 4 / 3), use_image_if_no_bounding_boxes=True)
        return tf.stack([begin[0], begin[1], size[0], size[1]])

    return (len(made) for made in tf.data.Dataset.from_tensor_slices(encoded).map(prepare).batch(batch))


def tf_data_antialiased(encoded, batch):
    return tf_data(encoded, batch, antialias=True)


def spdl(encoded, batch):
    import spdl.io

    def prepare(data):
        packets = spdl.io.demux_image(data)
        left, top, wide, high = crop_box(packets.width, packets.height)
        filters = spdl.io.get_video_filter_desc(pix_fmt="rgb24", filter_desc=f"crop={wide}:{high}:{left}:{top},"
                                                f"scale={SIDE}:{SIDE}:flags=bilinear" + random.choice(("", ",hflip")))
        frames = spdl.io.decode_packets(packets, filter_desc=filters)
        return spdl.io.to_numpy(spdl.io.convert_frames(frames))

    return rows(prepare, encoded, batch)


def mlx_data(encoded, batch):
    import mlx.data as dx

    records = [{"image": numpy.frombuffer(bytearray(data), numpy.uint8)} for data in encoded]
    stream = dx.buffer_from_vector(records).to_stream().load_image("image", from_memory=True)
    stream = stream.image_random_area_crop("image", (0.08, 1.0), (3 / 4, 4 / 3)).image_resize("image", SIDE, SIDE)
    return (len(made["image"]) for made in stream.image_random_h_flip("image", 0.5).batch(batch))


def dali(encoded, batch):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=batch, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def pipeline():
        source = itertools.cycle([numpy.frombuffer(data, numpy.uint8)] for data in encoded)
        data = fn.external_source(lambda _: next(source)[0], batch=False)
        picture = fn.decoders.image_random_crop(data, device="cpu", random_area=(0.08, 1.0),
                                                random_aspect_ratio=(3 / 4, 4 / 3))
        picture = fn.resize(picture, size=(SIDE, SIDE), interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.flip(picture, horizontal=fn.random.coin_flip())

    running = pipeline()
    running.build()
    return (len(running.run()[0]) for _ in range(len(encoded) // batch))


LOOPS = {loop.__name__: loop for loop in (pillow, simplejpeg, torchvision, opencv, tf_data, tf_data_antialiased, spdl,
                                          mlx_data, dali)}


def main(loop, paths):
    encoded = photos(paths)
    batch = 25 if len(encoded) >= 100 else 4
    counts = loop(encoded[:batch] + encoded, batch)
    next(counts)  # libraries load and compile on first use
    begin = time.process_time()
    done = sum(counts)
    print(json.dumps({"photos": done, "cpu_seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main(LOOPS[sys.argv[1]], sys.argv[2:])
