#!/usr/bin/env python3
"""The loops of other libraries over the photos of tar shards, for decode.py: decode, random_resized_crop to 224, flip.
Prints {"photos", "cpu_seconds"}.

    decode_loops.py LOOP TAR...    with the interpreter of a set that has what the loop needs

Pillow, Pillow-SIMD, simplejpeg with one of them, torchvision, DALI, mlx-data and "tf_data_antialiased" resize bilinearly
with antialiasing, as Echoline does; the other loops do less work, or other work. Loops with "reduced" decode at a part of
the size where the crop stays at least as large as the result, as Echoline does with `fast: true`. All use one thread, as far as they allow
it; CPU time is that of the whole process, from the end of the first batch on."""
import io
import itertools
import json
import math
import random
import sys
import tarfile
import tempfile
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


def resized(picture, box=None):
    """The box (left, top, width, height) of a Pillow image, else a random one, as a row."""
    from PIL import Image

    left, top, wide, high = box or crop_box(*picture.size)
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


def reduction(box):
    """1, 2, 4 or 8: how much smaller the sides of a crop may be made."""
    ratio = max(1, min(box[2:]) // SIDE)
    return max(by for by in (1, 2, 4, 8) if by <= ratio)


def scaled(box, size, whole):
    """The box in the same picture of another size; rounding of sizes must not move it out."""
    x, y = size[0] / whole[0], size[1] / whole[1]
    left, top = box[0] * x, box[1] * y
    return left, top, min(box[2] * x, size[0] - left), min(box[3] * y, size[1] - top)


def pillow_reduced(encoded, batch):
    from PIL import Image

    def prepare(data):
        picture = Image.open(io.BytesIO(data))
        whole, box = picture.size, crop_box(*picture.size)
        by = reduction(box)
        picture.draft("RGB", (whole[0] // by, whole[1] // by))
        return resized(picture.convert("RGB"), scaled(box, picture.size, whole))

    return rows(prepare, encoded, batch)


def simplejpeg_reduced(encoded, batch):
    import simplejpeg as library
    from PIL import Image

    def prepare(data):
        height, width = library.decode_jpeg_header(data)[:2]
        box = crop_box(width, height)
        by = reduction(box)
        pixels = library.decode_jpeg(data, "RGB", min_height=height // by, min_width=width // by)
        return resized(Image.fromarray(pixels), scaled(box, pixels.shape[1::-1], (width, height)))

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


def opencv_reduced(encoded, batch):
    import cv2
    from PIL import Image

    cv2.setNumThreads(1)
    flags = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4,
             8: cv2.IMREAD_REDUCED_COLOR_8}

    def prepare(data):
        whole = Image.open(io.BytesIO(data)).size
        box = crop_box(*whole)
        picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), flags[reduction(box)])
        left, top, wide, high = map(round, scaled(box, picture.shape[1::-1], whole))
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


def ffcv(encoded, batch):
    """Out of its own file, which has the photos encoded again, with about as many bytes."""
    import ffcv.fields.rgb_image
    import ffcv.loader
    import ffcv.transforms
    import ffcv.writer
    from PIL import Image

    class Photos:
        def __len__(self):
            return len(encoded)

        def __getitem__(self, at):
            return (Image.open(io.BytesIO(encoded[at])).convert("RGB"),)

    field = ffcv.fields.RGBImageField(write_mode="jpg", jpeg_quality=95)
    crop = ffcv.fields.rgb_image.RandomResizedCropRGBImageDecoder((SIDE, SIDE))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/photos.beton"
        ffcv.writer.DatasetWriter(path, {"image": field}, num_workers=1).from_indexed_dataset(Photos())
        loader = ffcv.loader.Loader(path, batch, num_workers=1, order=ffcv.loader.OrderOption.SEQUENTIAL,
                                    pipelines={"image": [crop, ffcv.transforms.RandomHorizontalFlip()]})
        for made, in loader:
            yield len(made)


LOOPS = {loop.__name__: loop for loop in (pillow, simplejpeg, torchvision, opencv, tf_data, tf_data_antialiased, spdl,
                                          mlx_data, dali, ffcv, pillow_reduced, simplejpeg_reduced, opencv_reduced)}


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
