"""Makes golden/coco_masks.json and golden/yolo_masks.json with pycocotools, 2.0.8 or later: segmentations in each of
COCO's forms, outlines as lines of YOLO, and the pixels that they have, as lengths of runs down the columns, outside
first."""
import json
import pathlib
import random

import numpy
from pycocotools import mask as coco

RECORDS = 30


def place(source, limit):
    """A coordinate in hundredths, also a little outside of the picture, or a whole one."""
    return source.randint(0, limit) if source.random() < 0.2 else round(source.uniform(-4, limit + 4), 2)


def polygon(source, height, width):
    kind = source.random()
    if kind < 0.1:  # without an area
        return [place(source, width), place(source, height)] * 3
    if kind < 0.25:  # smaller than a pixel or two
        x, y = place(source, width), place(source, height)
        return [round(at + source.uniform(0, 2), 2) for _ in range(4) for at in (x, y)]
    return [at for _ in range(source.randint(3, 14)) for at in (place(source, width), place(source, height))]


def blob(source, height, width):
    made = numpy.zeros((height, width), numpy.uint8, order="F")
    for _ in range(source.randint(1, 5)):
        top, left = source.randrange(height), source.randrange(width)
        made[top:top + source.randint(1, height), left:left + source.randint(1, width)] ^= 1
    return made


def runs_of(mask):
    """Lengths of pixels outside and inside in turn, down the columns."""
    flat = mask.flatten(order="F").astype(int)
    ends = [*(numpy.flatnonzero(numpy.diff(flat)) + 1).tolist(), flat.size]
    lengths = numpy.diff([0, *ends]).tolist()
    return lengths if flat[0] == 0 else [0, *lengths]


def segmentation(source, height, width):
    kind = source.random()
    if kind < 0.6:
        return [polygon(source, height, width) for _ in range(source.randint(1, 3))]
    made = blob(source, height, width)
    text = coco.encode(made)["counts"].decode()
    return {"size": [height, width], "counts": text if kind < 0.8 else runs_of(made)}


def pixels(given, height, width):
    """As COCO.annToMask has them."""
    if isinstance(given, list):
        return coco.decode(coco.merge(coco.frPyObjects(given, height, width)))
    if isinstance(given["counts"], list):
        given = coco.frPyObjects(given, height, width)
    return coco.decode(given)


def record(number):
    source = random.Random(number)
    height, width = source.randint(1, 60), source.randint(1, 80)
    given = [segmentation(source, height, width) for _ in range(source.randint(1, 5))]
    return {"size": [height, width],
            "objects": [{"category_id": source.randint(1, 3), "segmentation": one,
                         "runs": runs_of(pixels(one, height, width))} for one in given]}


def touches_picture(shares):
    return all(max(places) >= 0 and min(places) <= 1 for places in (shares[::2], shares[1::2]))


def yolo_object(source, height, width):
    sides = [width, height] * 20
    shares = []
    while not shares or not touches_picture(shares):
        shares = [round(at / side, 6) for at, side in zip(polygon(source, height, width), sides)]
    corners = [at * side for at, side in zip(shares, sides)]
    label = source.randint(0, 2)
    return {"class": label, "line": " ".join(map(str, [label, *shares])),
            "runs": runs_of(pixels([corners], height, width))}


def yolo_record(number):
    source = random.Random(number)
    height, width = source.randint(1, 60), source.randint(1, 80)
    return {"size": [height, width],
            "objects": [yolo_object(source, height, width) for _ in range(source.randint(1, 5))]}


def main():
    for name, make in (("coco_masks", record), ("yolo_masks", yolo_record)):
        lines = [json.dumps(make(number), separators=(",", ":")) for number in range(RECORDS)]
        (pathlib.Path(__file__).parent / "golden" / f"{name}.json").write_text("[" + ",\n".join(lines) + "]\n")


if __name__ == "__main__":
    main()
