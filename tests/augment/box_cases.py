"""Pipelines and boxes for which golden/boxes.json has the results of torchvision.transforms.v2.

A geometry is a list of what the steps do: ("crop", top, left, height, width), also beyond the picture,
("resize", height, width), ("flip",) and ("change", operation, magnitude) of a recipe. It follows from the draws alone."""
import random

import draws
import pillow_recipes

SEED, EPOCH, USE = 7, 3, 2
SIZES = ((375, 500), (333, 251), (96, 128), (480, 640))
IOU_STEP = 1


def boxes_of(number, height, width):
    """Boxes in quarters of a pixel, exact in float32: inside, at the edges, and one that reaches out."""
    source = random.Random(number)
    boxes = [(0, 0, width, height), (width - 4.5, height - 6.25, width + 3, height + 2)]
    for _ in range(source.randrange(9)):
        left, top = source.randrange(4 * width - 8) / 4, source.randrange(4 * height - 8) / 4
        boxes.append((left, top, left + source.randrange(1, int(4 * (width - left))) / 4,
                      top + source.randrange(1, int(4 * (height - top))) / 4))
    return boxes


def drawn(sample, step):
    return draws.Draws(SEED, sample, EPOCH, USE, step)


def crop_to(size, to):
    top, left = ((a - b) / 2 for a, b in zip(size, to))
    # As torchvision: half to even where it cuts, half down where it pads.
    whole = [int(x) if x < 0 else round(x) for x in (top, left)]
    return ("crop", *[x if x >= 0 else -((b - a) // 2) for x, a, b in zip(whole, size, to)], *to)


def by_shorter(size, side, longest=None):
    short, long = min(size), max(size)
    new_short, new_long = side, int(side * long / short)
    if longest and new_long > longest:
        new_short, new_long = int(longest * new_short / new_long), longest
    return (new_long, new_short) if size[0] >= size[1] else (new_short, new_long)


def letterbox(size, to):
    ratio = min(to[0] / size[0], to[1] / size[1])
    new = tuple(round(side * ratio) for side in size)
    return [("resize", *new), ("crop", -((to[0] - new[0]) // 2), -((to[1] - new[1]) // 2), *to)]


def flips(sample, step):
    return [("flip",)] if draws.horizontal_flip(drawn(sample, step)) else []


def random_crop(sample, size, to, padding):
    top, left = draws.random_crop(drawn(sample, 1), size[0] + 2 * padding, size[1] + 2 * padding, *to)
    return ("crop", top - padding, left - padding, *to)


def resized_crop(sample, size, to):
    return [("crop", *draws.random_resized_crop(drawn(sample, 1), *size)), ("resize", *to)]


def rand_augment(sample, size):
    changes = pillow_recipes.rand_augment(drawn(sample, 1), size[::-1], operations=4, index=20)
    return [("change", *change) for change in changes]


def iou_crop(sample, size, boxes):
    box = draws.random_iou_crop(drawn(sample, IOU_STEP), *size, boxes)
    return [("crop_centres", *box)] if box != (0, 0, *size) else []


FLIP = 'horizontal_flip { field: "image" probability: 0.5 }'
# Name: steps after decode, and the geometry for (sample, size, boxes).
CASES = {
    "resize": (['resize { field: "image" size: [97, 131] }'], lambda n, s, b: [("resize", 97, 131)]),
    "shorter side": (['resize { field: "image" size: 72 }'], lambda n, s, b: [("resize", *by_shorter(s, 72))]),
    "longest side": (['resize { field: "image" size: 72 max_size: 99 }'],
                     lambda n, s, b: [("resize", *by_shorter(s, 72, 99))]),
    "centre crop": (['center_crop { field: "image" size: [85, 300] }', FLIP],
                    lambda n, s, b: [crop_to(s, (85, 300)), *flips(n, 2)]),
    "resize and centre crop": (['resize { field: "image" size: 90 }', 'center_crop { field: "image" size: [77, 80] }',
                                FLIP],
                               lambda n, s, b: [("resize", *by_shorter(s, 90)), crop_to(by_shorter(s, 90), (77, 80)),
                                                *flips(n, 3)]),
    "random crop": (['random_crop { field: "image" size: [70, 90] padding: 13 }', FLIP],
                    lambda n, s, b: [random_crop(n, s, (70, 90), 13), *flips(n, 2)]),
    "random resized crop": (['random_resized_crop { field: "image" size: [64, 48] }', FLIP],
                            lambda n, s, b: [*resized_crop(n, s, (64, 48)), *flips(n, 2)]),
    "letterbox": (['letterbox { field: "image" size: [160, 200] fill: 9 }', FLIP],
                  lambda n, s, b: [*letterbox(s, (160, 200)), *flips(n, 2)]),
    "flip": ([FLIP], lambda n, s, b: flips(n, 1)),
    "rand augment": (['rand_augment { field: "image" operations: 4 magnitude: 20 }', FLIP],
                     lambda n, s, b: [*rand_augment(n, s), *flips(n, 2)]),
    "iou crop": (['random_iou_crop { field: "image" }', 'resize { field: "image" size: [60, 60] }', FLIP,
                  'sanitize_boxes { field: "boxes" min_size: 4 min_area: 30 }'],
                 lambda n, s, b: [*iou_crop(n, s, b), ("resize", 60, 60), *flips(n, 3)]),
}
# Corners in float32 by torch's matrix product, whose order of additions is not known, by at most so many pixels.
ALLOWED = {"rand augment": 1e-3}
SANITIZED = {"iou crop": (4, 30)}  # min_size, min_area
SAMPLES = 8


def inputs():
    """(sample, size, boxes) of each sample, the same for all cases."""
    for sample in range(SAMPLES):
        size = SIZES[sample % len(SIZES)]
        yield sample, size, boxes_of(sample, *size)
