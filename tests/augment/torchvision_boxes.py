"""Makes golden/boxes.json with torchvision.transforms.v2, 0.17 or later. Run it again if box_cases.py changes."""
import json
import math
import pathlib

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as F

import box_cases


def apply(move, boxes):
    """The boxes after a move of their picture, and which of them still belong to it."""
    kept = torch.ones(len(boxes), dtype=torch.bool)
    kind, *numbers = move
    if kind == "flip":
        return F.horizontal_flip(boxes), kept
    if kind == "resize":
        return F.resize(boxes, numbers), kept
    if kind == "change":
        return changed(boxes, *numbers), kept
    if kind == "crop_centres":
        top, left, height, width = numbers
        x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
        kept = (left < x) & (x < left + width) & (top < y) & (y < top + height)
    return F.crop(boxes, *numbers), kept


def changed(boxes, operation, value):
    """The boxes after an operation of a recipe."""
    if operation == "Rotate":
        return F.rotate(boxes, value)
    if not operation.startswith(("Shear", "Translate")):
        return boxes
    shear, centre = [0.0, 0.0], None
    translate = [0, 0]
    if operation.startswith("Shear"):
        shear["XY".index(operation[-1])], centre = math.degrees(math.atan(value)), [0, 0]
    else:
        translate["XY".index(operation[-1])] = int(value)
    return F.affine(boxes, angle=0.0, translate=translate, scale=1.0, shear=shear, center=centre)


def result(name, sample, size, given):
    boxes = tv_tensors.BoundingBoxes(torch.tensor(given), format="XYXY", canvas_size=size)
    labels = torch.arange(len(given))
    for move in box_cases.CASES[name][1](sample, size, given):
        boxes, kept = apply(move, boxes)
        boxes, labels = tv_tensors.wrap(boxes[kept], like=boxes), labels[kept]
    boxes = F.clamp_bounding_boxes(boxes)
    min_size, min_area = box_cases.SANITIZED.get(name, (0, 0))
    sides = boxes[:, 2:] - boxes[:, :2]
    kept = (sides > 0).all(1) & (sides >= min_size).all(1) & (sides.prod(1) >= min_area)
    return {"boxes": boxes[kept].tolist(), "labels": labels[kept].tolist(), "size": boxes.canvas_size}


def main():
    golden = {name: [result(name, *given) for given in box_cases.inputs()] for name in box_cases.CASES}
    path = pathlib.Path(__file__).parent / "golden" / "boxes.json"
    path.write_text(json.dumps(golden, separators=(",", ":")).replace('"boxes"', '\n"boxes"') + "\n")


if __name__ == "__main__":
    main()
