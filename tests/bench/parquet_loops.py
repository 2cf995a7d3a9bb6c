#!/usr/bin/env python3
"""The loops of Hugging Face's `datasets` over Parquet files of photos, for parquet.py. Prints {"photos", "cpu_seconds"}.

    parquet_loops.py decoded|encoded FILE...    with the interpreter of a set that has datasets and Pillow

The files are streamed, which decodes them again in each epoch. "decoded": photos are decoded by Pillow, cropped and resized
as torchvision's RandomResizedCrop does, and put into a batch. "encoded": their bytes are taken as they are. CPU time is
that of the whole process from the first photo on."""
import json
import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"
import datasets  # noqa: E402
import numpy  # noqa: E402
from decode_loops import SIDE, crop_box  # noqa: E402
from PIL import Image  # noqa: E402

BATCH = 25


def main(way, paths):
    features = datasets.Features({"image": datasets.Image(decode=way == "decoded"), "label": datasets.Value("int64")})
    data = datasets.load_dataset("parquet", data_files=paths, split="train", streaming=True, features=features,
                                 columns=["image", "label"])
    made = numpy.empty((BATCH, SIDE, SIDE, 3), numpy.uint8)
    photos = encoded_bytes = 0
    begin = time.process_time()
    for row in data:
        if way == "decoded":
            left, top, width, height = crop_box(*row["image"].size)
            box = (left, top, left + width, top + height)
            image = row["image"].convert("RGB").resize((SIDE, SIDE), Image.BILINEAR, box)
            made[photos % BATCH] = numpy.asarray(image)
        else:
            encoded_bytes += len(row["image"]["bytes"])
        photos += 1
    print(json.dumps({"photos": photos, "cpu_seconds": time.process_time() - begin, "bytes": encoded_bytes}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
