"""Boxes move with their image exactly as torchvision.transforms.v2 moves them (golden/boxes.json), and the pixels of the
steps for detection are Pillow's."""
import json
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

DECODE = """decode {
  fields { key: "image" value { key: "png" as: "rgb" } }
  fields { key: "boxes" value { key: "json" as: "coco_boxes" } }
  fields { key: "labels" value { key: "json" as: "coco_labels" } } }"""


def record(folder, sample, size, boxes):
    paths = pathlib.Path(folder, f"{sample}.png"), pathlib.Path(folder, f"{sample}.json")
    drawing(size[1], size[0], seed=sample).save(paths[0])
    paths[1].write_text(json.dumps([{"bbox": [left, top, right - left, bottom - top], "category_id": number}
                                    for number, (left, top, right, bottom) in enumerate(boxes)]))
    return paths


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
