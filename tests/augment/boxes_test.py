"""Boxes move with their image exactly as torchvision.transforms.v2 moves them (golden/boxes.json), masks as it moves
them, key points by the same numbers, and the pixels of the steps for detection are Pillow's. Masks of COCO's
segmentations and YOLO's outlines equal those of pycocotools (golden/coco_masks.json, golden/yolo_masks.json), masks of
single objects move as masks do, and those of removed boxes are removed."""
import functools
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "decode" / "dump"))
import box_cases
import draws
import pillow_recipes
from pillow_jitter import jitter
from pipelines import Image, difference, drawing, numpy, run_all

try:
    import torch
except ImportError:
    torch = None

DECODE = """decode {
  fields { key: "image" value { key: "png" as: "rgb" } }
  fields { key: "boxes" value { key: "json" as: "coco_boxes" } }
  fields { key: "labels" value { key: "json" as: "coco_labels" } }
  fields { key: "points" value { key: "json" as: "coco_keypoints" points: 3 pairs: [0, 2] } }
  fields { key: "mask" value { key: "ids" as: "mask" } }
  fields { key: "wide" value { key: "ids16" as: "mask16" ignore: 65535 } }
  fields { key: "objects" value { key: "json" as: "coco_object_masks" max_objects: 16 } }
  fields { key: "numbered" value { key: "ids16" as: "object_masks" of: "image" max_objects: 9 ignore: 65535 } } }"""
COCO_MASK = """decode {
  fields { key: "boxes" value { key: "json" as: "coco_boxes" } }
  fields { key: "objects" value { key: "json" as: "coco_object_masks" } }
  fields { key: "image" value { key: "png" as: "gray" } }
  fields { key: "mask" value { key: "json" as: "coco_mask" } }
  fields { key: "wide" value { key: "json" as: "coco_mask16" classes: ["2", "3", "1"] ignore: 1000 } } }"""
NUMBERS = """decode {
  fields { key: "image" value { key: "png" as: "gray" } }
  fields { key: "boxes" value { key: "json" as: "coco_boxes" } }
  fields { key: "masks" value { key: "ids" as: "object_masks" } } }"""
YOLO_MASK = """decode {
  fields { key: "image" value { key: "png" as: "gray" } }
  fields { key: "boxes" value { key: "txt" as: "yolo_boxes" } }
  fields { key: "objects" value { key: "txt" as: "yolo_object_masks" } }
  fields { key: "mask" value { key: "txt" as: "yolo_mask" } }
  fields { key: "wide" value { key: "txt" as: "yolo_mask16" classes: ["2", "0", "1"] ignore: 1000 } } }"""


def points_of(number, boxes):
    """Three points for each box, in quarters of a pixel; some not visible, some outside of the picture."""
    return [[[left + 0.25 * number, top + 1, 2], [right, bottom, (number + i) % 3], [(left + right) // 2, top, 1]]
            for i, (left, top, right, bottom) in enumerate(boxes)]


@functools.cache
def ids_of(sample, size):
    """Class ids 0 to 9 in pieces of any form, and some of 255."""
    pixels = numpy.asarray(drawing(size[1], size[0], seed=sample))[:, :, 0]
    return numpy.where(pixels % 17 == 0, 255, pixels // 26).astype(numpy.uint8)


def object_pixels(sample, size, number):
    """The pixels of an object: some of its box, and others, which overlap those of other objects."""
    return (ids_of(sample, size) + number) % 4 == 0


def runs_down(inside):
    """COCO's run lengths: outside and inside in turn, down the columns."""
    flat = numpy.concatenate([[0], inside.flatten(order="F").astype(int)])
    return numpy.diff([0, *numpy.flatnonzero(numpy.diff(flat)), inside.size]).tolist()


def record(folder, sample, size, boxes):
    paths = [pathlib.Path(folder, f"{sample}.{kind}") for kind in ("png", "json", "ids", "ids16")]
    drawing(size[1], size[0], seed=sample).save(paths[0])
    points = points_of(sample, boxes)
    paths[1].write_text(json.dumps([{"bbox": [left, top, right - left, bottom - top], "category_id": number,
                                     "keypoints": sum(points[number], []),
                                     "segmentation": {"size": size,
                                                      "counts": runs_down(object_pixels(sample, size, number))}}
                                    for number, (left, top, right, bottom) in enumerate(boxes)]))
    palette = Image.fromarray(ids_of(sample, size), "P")
    palette.putpalette(bytes(range(255, -1, -1)) * 3)  # other numbers than the ids
    palette.save(paths[2], "PNG")
    wide = ids_of(sample, size).astype(numpy.uint16)
    Image.fromarray(numpy.where(wide == 255, 65535, wide)).save(paths[3], "PNG")
    return tuple(paths)


def nearest(size, to):
    """torch's rule for `interpolate` with mode "nearest": in float32."""
    step = numpy.float32(size) / numpy.float32(to)
    return numpy.minimum(numpy.floor(numpy.arange(to, dtype=numpy.float32) * step).astype(int), size - 1)


def cut(ids, added, top, left, height, width):
    """The part of it, with `added` outside."""
    made = numpy.full((height, width), added, numpy.uint8)
    rows, columns = ([(at, at + first) for at in range(count) if 0 <= at + first < size]
                     for first, count, size in ((top, height, ids.shape[0]), (left, width, ids.shape[1])))
    if rows and columns:
        made[rows[0][0]:rows[-1][0] + 1, columns[0][0]:columns[-1][0] + 1] = \
            ids[rows[0][1]:rows[-1][1] + 1, columns[0][1]:columns[-1][1] + 1]
    return made


def moved_ids(ids, moves, added=255):
    """The mask after these moves, as torchvision's functions for masks make it; of recipes with Pillow."""
    for kind, *numbers in moves:
        if kind == "flip":
            ids = ids[:, ::-1]
        elif kind == "resize":
            ids = ids[nearest(ids.shape[0], numbers[0])][:, nearest(ids.shape[1], numbers[1])]
        elif kind != "change":
            ids = cut(ids, added, *numbers)
        elif numbers[0].startswith(("Shear", "Translate", "Rotate")):
            ids = numpy.asarray(pillow_recipes.apply(Image.fromarray(ids), *numbers, Image.NEAREST, added))
    return ids


def moved_points(points, size, moves):
    """Points after these moves; (0, 0, 0) for those that are not visible."""
    points = numpy.array(points, float).reshape(-1, 3, 3)
    for kind, *numbers in [("crop", 0, 0, *size), *moves]:
        x, y = points[..., 0], points[..., 1]
        if kind == "flip":
            x[...] = size[1] - 1 - x
            points = points[:, ::-1].copy()  # the first and the third exchange places
            x, y = points[..., 0], points[..., 1]
        elif kind == "resize":
            x[...] = (x + 0.5) * numbers[1] / size[1] - 0.5
            y[...] = (y + 0.5) * numbers[0] / size[0] - 0.5
            size = numbers
        elif kind == "change":
            x[...], y[...] = changed(x, y, size, *numbers)
        else:
            x -= numbers[1]
            y -= numbers[0]
            size = numbers[2:]
        outside = (x < -0.5) | (y < -0.5) | (x >= size[1] - 0.5) | (y >= size[0] - 0.5)
        points[outside | (points[..., 2] == 0)] = 0
    return points


def changed(x, y, size, operation, value):
    """Points after an operation of a recipe, whose matrices count from the corner of the picture."""
    x, y = x + 0.5, y + 0.5
    if operation == "ShearX":
        x = x - value * y
    elif operation == "ShearY":
        y = y - value * x
    elif operation == "TranslateX":
        x = x + int(value)
    elif operation == "TranslateY":
        y = y + int(value)
    elif operation == "Rotate":
        turn, middle = math.radians(value), (size[1] / 2, size[0] / 2)
        x, y = x - middle[0], y - middle[1]
        x, y = (x * math.cos(turn) + y * math.sin(turn) + middle[0], y * math.cos(turn) - x * math.sin(turn) + middle[1])
    return x - 0.5, y - 0.5


def from_runs(runs, height, width):
    """Pixels from run lengths down the columns."""
    inside = numpy.arange(len(runs)) % 2 == 1
    return numpy.repeat(inside, runs).reshape(width, height).T


def moved(picture, moves, fill):
    """The picture after these moves, with Pillow."""
    for kind, *numbers in moves:
        if kind == "flip":
            picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
        elif kind == "change":
            picture = pillow_recipes.apply(picture, *numbers, Image.NEAREST, (fill,) * 3)
        elif kind == "resize":
            picture = picture.resize(numbers[::-1], Image.BILINEAR)
        else:
            top, left, height, width = numbers
            canvas = Image.new("RGB", (width, height), (fill,) * 3)
            canvas.paste(picture, (-left, -top))
            picture = canvas
    return picture


class Boxes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.inputs = list(box_cases.inputs())
        cls.records = [record(folder.name, *given) for given in cls.inputs]

    def run_steps(self, steps):
        return run_all([DECODE, *steps], self.records, box_cases.EPOCH, box_cases.USE, box_cases.SEED)

    def test_boxes_equal_those_of_torchvision_and_pixels_those_of_pillow(self):
        golden = json.loads((pathlib.Path(__file__).parent / "golden" / "boxes.json").read_text())
        self.assertEqual(list(golden), list(box_cases.CASES))
        for name, (steps, geometry) in box_cases.CASES.items():
            for given, ours, theirs in zip(self.inputs, self.run_steps(steps), golden[name], strict=True):
                with self.subTest(case=name, sample=given[0]):
                    self.assertIsInstance(ours, dict, ours)
                    expected = numpy.array(theirs["boxes"], numpy.float32).reshape(-1, 4)
                    self.assertLessEqual(difference(ours["boxes"], expected), box_cases.ALLOWED.get(name, 0))
                    self.assertEqual(ours["labels"].tolist(), theirs["labels"])
                    self.assertEqual(ours["image"].shape[:2], tuple(theirs["size"]))
                    picture = moved(Image.open(self.records[given[0]][0]), geometry(*given), 9 if name == "letterbox" else 0)
                    self.assertLessEqual(difference(ours["image"], picture), 1)
                    self.check_followers(given, ours, theirs["labels"], geometry(*given))

    def check_followers(self, given, ours, labels, moves):
        sample, size, boxes = given
        ids = moved_ids(ids_of(sample, size), moves)
        self.assertEqual(difference(ours["mask"], ids), 0)
        self.assertEqual(difference(ours["wide"], numpy.where(ids == 255, 65535, ids)), 0)
        self.assertEqual(ours["objects"].shape, (len(labels), *ids.shape))
        for mask, label in zip(ours["objects"], labels, strict=True):
            expected = moved_ids(object_pixels(sample, size, label).astype(numpy.uint8), moves, 0)
            self.assertEqual(difference(mask, expected), 0)
        self.assertEqual(len(ours["numbered"]), 9)
        for number, mask in enumerate(ours["numbered"]):
            self.assertEqual(difference(mask, ids == number + 1), 0)
        points = moved_points(points_of(sample, boxes), size, moves)[labels]
        self.assertLessEqual(difference(ours["points"], points), 1e-3)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch_takes_the_nearest_pixel_as_the_masks_of_this_test_do(self):
        for size, to in ((375, 97), (500, 131), (96, 160), (640, 333), (7, 65)):
            line = torch.arange(size, dtype=torch.float32).reshape(1, 1, 1, size)
            theirs = torch.nn.functional.interpolate(line, size=(1, to), mode="nearest").flatten()
            self.assertEqual(theirs.int().tolist(), nearest(size, to).tolist())

    def check_masks(self, name, step, file, key, ids_of_fields):
        """`file`(objects) is the extension and the text of a record's annotations."""
        golden = json.loads((pathlib.Path(__file__).parent / "golden" / f"{name}.json").read_text())
        records = []
        for number, given in enumerate(golden):
            kind, text = file(given["objects"])
            paths = tuple(pathlib.Path(self.folder, f"{name}{number}.{one}") for one in ("png", kind))
            drawing(*given["size"][::-1]).save(paths[0])
            paths[1].write_text(text)
            records.append(paths)
        made = run_all([step], records)
        for given, ours in zip(golden, made, strict=True):
            self.assertIsInstance(ours, dict, ours)
            for field, ignore, ids in ids_of_fields:
                expected = numpy.zeros(given["size"], int)
                for one in given["objects"]:
                    pixels, number = from_runs(one["runs"], *given["size"]), ids[one[key]]
                    expected[pixels & (expected > 0) & (expected != number)] = ignore
                    expected[pixels & (expected == 0)] = number
                self.assertEqual(difference(ours[field], expected), 0)
            for one, mask in zip(given["objects"], ours["objects"], strict=True):
                self.assertEqual(difference(mask, from_runs(one["runs"], *given["size"])), 0)
        return golden, made

    def test_masks_of_segmentations_equal_those_of_pycocotools(self):
        self.check_masks(
            "coco_masks", COCO_MASK,
            lambda objects: ("json", json.dumps([{"bbox": [0, 0, 1, 1], **one} for one in objects])),
            "category_id", [("mask", 255, (0, 1, 2, 3)), ("wide", 1000, (0, 3, 1, 2))])

    def test_masks_of_yolo_outlines_equal_those_of_pycocotools_and_boxes_are_their_bounds(self):
        golden, made = self.check_masks(
            "yolo_masks", YOLO_MASK, lambda objects: ("txt", "\n".join(one["line"] for one in objects)),
            "class", [("mask", 255, (1, 2, 3)), ("wide", 1000, (2, 3, 1))])
        for given, ours in zip(golden, made):
            for one, box in zip(given["objects"], ours["boxes"], strict=True):
                shares = numpy.array(one["line"].split()[1:], numpy.float32).reshape(-1, 2)
                sides = numpy.array(given["size"][::-1], numpy.float32)
                self.assertEqual(box.tolist(), [*(shares.min(0) * sides), *(shares.max(0) * sides)])

    def test_numbers_of_objects_are_those_of_the_boxes(self):
        ids = numpy.zeros((20, 30), numpy.uint8)
        ids[0], ids[2:5, 3:9], ids[7:9, 1:4] = 255, 1, 2
        paths = [pathlib.Path(self.folder, f"numbers.{kind}") for kind in ("png", "json", "ids")]
        drawing(30, 20).save(paths[0])
        Image.fromarray(ids).save(paths[2], "PNG")
        for count in (1, 2, 3):
            paths[1].write_text(json.dumps([{"bbox": [1, 1, 9, 9], "category_id": 1}] * count))
            made = run_all([NUMBERS], [tuple(paths)])[0]
            if count == 1:
                self.assertIn("field masks: masks of 2 objects for 1 boxes of boxes", made)
                continue
            self.assertEqual(made["masks"].shape, (count, 20, 30))  # the third one is empty
            for number, mask in enumerate(made["masks"]):
                self.assertEqual(difference(mask, ids == number + 1), 0)

    def test_a_step_that_draws_no_move_removes_and_changes_nothing_inside(self):
        for given, ours in zip(self.inputs, self.run_steps(['horizontal_flip { field: "image" probability: 0 }'])):
            inside = numpy.minimum(numpy.array(given[2], numpy.float32), given[1][::-1] * 2)
            self.assertEqual(ours["boxes"].tolist(), inside.tolist())

    def test_photometric_distort_equals_pillow_and_moves_no_box(self):
        step = 'photometric_distort { field: "image" probability: 0.7 }'
        for given, ours in zip(self.inputs, self.run_steps([step])):
            changes, channels = draws.photometric_distort(box_cases.drawn(given[0], 1), 0.7)
            picture = jitter(Image.open(self.records[given[0]][0]), changes)
            self.assertLessEqual(difference(ours["image"], numpy.asarray(picture)[:, :, channels]), 1)
            self.assertEqual(ours["boxes"].tolist(), numpy.array(given[2], numpy.float32).tolist())


if __name__ == "__main__":
    unittest.main()
