#!/usr/bin/env python3
"""A stream of pictures with boxes: values of every record equal those of ElementTree and Pillow, for any batch size, and
a resumed trainer gets the same boxes. Masks and key points move with their picture."""
import io
import json
import pathlib
import subprocess

from support import boxes
from support.daemon_process import Daemon, stream_yaml
from support.photos import Image, jpeg, numpy, picture
from support.process_case import ProcessCase, main
from support.programs import skip
from support.tars import write_tar

try:
    import echoline
except (ImportError, OSError) as missing:
    skip(f"the Python package: {missing}")

DECODE = ("decode: {image: {key: jpg, as: rgb}, boxes: {key: xml, as: voc_boxes}, "
          f"labels: {{key: xml, as: voc_labels, classes: [{', '.join(boxes.CLASSES)}]}}, "
          "difficult: {key: xml, as: voc_difficult}}")
PER_BOX = ("boxes", "labels", "difficult")
# Boxes are removed and moved, and the echo is between the steps.
AUGMENT = ["photometric_distort: {field: image}", "random_iou_crop: {field: image}", "echo: {factor: 2, window: 10}",
           "letterbox: {field: image, size: 96}", "horizontal_flip: {field: image}",
           "sanitize_boxes: {field: boxes, min_size: 2}"]


MASKS = ("decode: {image: {key: jpg, as: rgb}, mask: {key: png, as: mask}, boxes: {key: json, as: coco_boxes}, "
         "drawn: {key: json, as: coco_mask16, ignore: 999}, labels: {key: json, as: coco_labels}, "
         "points: {key: json, as: coco_keypoints, points: 2, pairs: [0, 1]}, "
         "objects: {key: json, as: coco_object_masks, max_objects: 4}, "
         "numbered: {key: png, as: object_masks, of: image, max_objects: 3}}")
# Places of an echo: the step before which it comes.
ECHOES = ("decode", "random_crop", "horizontal_flip", "batch", "publish")


def runs_down(inside):
    """COCO's run lengths: outside and inside in turn, down the columns."""
    flat = numpy.concatenate([[0], inside.flatten(order="F").astype(int)])
    return numpy.diff([0, *numpy.flatnonzero(numpy.diff(flat)), inside.size]).tolist()


def mask_record(seed, height=70, width=90):
    """The files of a record with two objects, and its class ids."""
    random = numpy.random.default_rng(seed)
    ids = numpy.zeros((height, width), numpy.uint8)
    top, left = random.integers(0, height // 2), random.integers(0, width // 4)
    ids[top:top + 20, left:left + 15] = 3
    ids[:30, width // 2:] = seed % 2 + 1
    objects = []
    for number in (3, seed % 2 + 1):
        rows, columns = numpy.nonzero(ids == number)
        x, y = int(columns.min()), int(rows.min())
        objects.append({"bbox": [x, y, int(columns.max()) + 1 - x, int(rows.max()) + 1 - y], "category_id": number,
                        "segmentation": {"size": [height, width], "counts": runs_down(ids == number)},
                        "keypoints": [x, y, 2, x + 10, y + 5, 1]})
    stored = io.BytesIO()
    Image.fromarray(ids, "P").save(stored, "PNG")
    return {"jpg": jpeg(picture(seed, width, height)), "png": stored.getvalue(),
            "json": json.dumps(objects).encode()}, ids


def write_mask_records(path, made):
    write_tar(path, [(f"{number:03}.{key}", content) for number, record in enumerate(made)
                     for key, content in record.items()])


def bounds(mask):
    """The smallest box around the pixels of a mask."""
    rows, columns = numpy.nonzero(mask)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def command_of_the_page():
    """The command of docs/detection.md that makes a tar of the folders of Pascal VOC."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "detection.md"
    return page.read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]


def bad_records(jpg):
    """Records with another reason each."""
    def xml(name, *corners):
        tags = "".join(f"<{tag}>{corner}</{tag}>" for tag, corner in zip(("xmin", "ymin", "xmax", "ymax"), corners))
        return f"<annotation><object><name>{name}</name><bndbox>{tags}</bndbox></object></annotation>".encode()
    return {"outside of the picture": (jpg, xml("RBC", 9000, 1, 9001, 2)),
            '"cow" is not among the classes': (jpg, xml("cow", 1, 2, 3, 4)),
            "no valid XML": (jpg, xml("RBC", 1, 2, 3, 4)[:70])}


class Detection(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.records = boxes.records(120)
        cls.data = cls.class_folder()
        cls.reasons = bad_records(cls.records[0][0])
        boxes.write_voc_folder(cls.data / "VOC", cls.records)
        subprocess.run(["bash", "-ec", command_of_the_page()], cwd=cls.data, check=True)
        write_tar(cls.data / "mixed.tar", boxes.files([*cls.records, *cls.reasons.values()]))

    def stream(self, name, steps, batch=4):
        return stream_yaml([f"read: {{url: '{self.data}/{name}.tar'}}", "shuffle: {window: 30}", DECODE, *steps,
                            f"batch: {{size: {batch}, last: partial}}"], more="    bad_records: {limit: 20%}\n")

    def loader(self, daemon, **options):
        loader = echoline.Loader("train", runtime_dir=daemon.runtime_dir, **options)
        self.addCleanup(loader.close)
        return loader

    def test_every_record_equals_elementtree_and_pillow(self):
        daemon = self.started(Daemon(self.stream("voc", [])))
        for batch_size in (4, 6):  # batches of 6 span slots, so boxes of several are put together
            seen = []
            for batch in self.loader(daemon, batch_size=batch_size):
                for row, sample in enumerate(batch.sample_ids):
                    jpg, xml = self.records[int(sample)]
                    for name, expected in zip(PER_BOX, boxes.parsed(xml)):
                        numpy.testing.assert_array_equal(batch[name][row], expected)
                        self.assertEqual(batch[name][row].dtype, expected.dtype)
                    if batch_size == 4:
                        self.assertLessEqual(abs(batch["image"][row] - boxes.pixels(jpg)).max(), 1)
                    seen.append(int(sample))
            self.assertEqual(sorted(seen), list(range(len(self.records))))

    def rows(self, batches):
        """All rows of the batches: (sample, use, image, boxes, labels, difficult) as bytes."""
        return [(int(batch.sample_ids[row]), int(batch.uses[row]), batch["image"][row].tobytes(),
                 *(batch[name][row].tobytes() for name in PER_BOX))
                for batch in batches for row in range(batch.valid_rows)]

    def test_a_resumed_trainer_gets_the_same_boxes_also_in_other_batches(self):
        daemon = self.started(Daemon(self.stream("voc", AUGMENT)))
        whole = self.rows(batch.copy() for batch in self.loader(daemon))
        uses = [row[:2] for row in whole]
        self.assertEqual(sorted(uses), sorted((sample, use) for sample in range(len(self.records)) for use in (0, 1)))
        first = self.loader(daemon, job="resumed")
        begun = self.rows([first.next().copy() for _ in range(5)])
        state = first.state_dict()
        first.close()
        rest = self.rows(batch.copy() for batch in self.loader(daemon, job="resumed", state=state, batch_size=10))
        self.assertEqual(begun + rest, whole)
        kept = sum(len(row[4]) for row in whole) / 8
        self.assertLess(kept, 2 * sum(len(boxes.parsed(xml)[1]) for _, xml in self.records))
        for row in whole:
            corners = numpy.frombuffer(row[3], numpy.float32).reshape(-1, 4)
            self.assertTrue(((corners >= 0) & (corners <= 96)).all())
            self.assertTrue((corners[:, 2:] - corners[:, :2] >= 2).all())
            self.assertEqual(len(corners), len(row[4]) // 8)

    def test_masks_and_key_points_move_with_their_picture(self):
        made = [mask_record(seed) for seed in range(12)]
        smaller = dict(made[0][0], png=mask_record(0, 70, 89)[0]["png"])
        write_mask_records(self.data / "masks.tar", [*(record for record, _ in made), smaller])
        daemon = self.started(Daemon(stream_yaml(
            [f"read: {{url: '{self.data}/masks.tar'}}", MASKS, "horizontal_flip: {field: image, probability: 1}",
             "center_crop: {field: image, size: [80, 90]}", "batch: {size: 4, last: partial}"],
            more="    bad_records: {limit: 20%}\n")))
        checked = set()
        for batch in self.loader(daemon):
            for row, sample in enumerate(batch.sample_ids):
                if batch.flags[row] & 2:
                    continue
                checked.add(int(sample))
                record, ids = made[int(sample)]
                added = numpy.full((5, 90), 255, numpy.uint8)
                numpy.testing.assert_array_equal(batch["mask"][row], [*added, *ids[:, ::-1], *added])
                drawn = batch["drawn"][row]
                self.assertEqual((drawn.dtype, (drawn == 999).sum()), (numpy.uint16, 900))
                numpy.testing.assert_array_equal(drawn[5:-5], ids[:, ::-1])
                points = [[[89 - b[0], b[1] + 5, b[2]], [89 - a[0], a[1] + 5, a[2]]]
                          for one in json.loads(record["json"]) for a, b in [numpy.split(numpy.array(one["keypoints"]), 2)]]
                numpy.testing.assert_array_equal(batch["points"][row], points)
                self.assertEqual(batch["objects"][row].dtype, numpy.uint8)
                padded = numpy.pad(ids[:, ::-1], ((5, 5), (0, 0)))
                for field, numbers in (("objects", (3, int(sample) % 2 + 1)), ("numbered", (1, 2, 3))):
                    expected = numpy.array([padded == number for number in numbers])
                    numpy.testing.assert_array_equal(batch[field][row], expected)
        self.assertEqual(checked, set(range(12)))
        self.assertIn("field mask is a mask 70 high and 89 wide; its picture image is 70 high and 90 wide", daemon.log())

    def test_masks_of_objects_fit_their_boxes_at_every_place_of_an_echo_and_after_a_resume(self):
        write_mask_records(self.data / "objects.tar", [mask_record(seed)[0] for seed in range(24)])
        steps = [f"read: {{url: '{self.data}/objects.tar'}}", "shuffle: {window: 9}", MASKS,
                 "random_crop: {field: image, size: [48, 64], padding: 3}", "horizontal_flip: {field: image}",
                 "batch: {size: 4}", "publish: {slots: 4}"]
        at = {before: next(i for i, step in enumerate(steps) if step.startswith(before)) for before in ECHOES}
        daemon = self.started(Daemon("".join(
            stream_yaml([*steps[:place], f"echo: {{factor: 2, window: {3 if before == 'publish' else 12}}}",
                         *steps[place:]], name=before) for before, place in at.items())))
        for before in ECHOES:
            whole = list(self.mask_rows(daemon, before))
            self.assertEqual(sorted(row[:2] for row in whole), [(sample, use) for sample in range(24) for use in (0, 1)])
            first = echoline.Loader(before, job="resumed", runtime_dir=daemon.runtime_dir)
            for _ in range(5):
                first.next()
            state = first.state_dict()
            first.close()
            self.assertEqual(list(self.mask_rows(daemon, before, job="resumed", state=state)), whole[20:])

    def mask_rows(self, daemon, stream, **options):
        """(sample, use, boxes, masks) of each row, the last two as bytes. Objects are tight in their boxes."""
        with echoline.Loader(stream, runtime_dir=daemon.runtime_dir, **options) as loader:
            for batch in loader:
                for row, sample in enumerate(batch.sample_ids):
                    found, masks = batch["boxes"][row], batch["objects"][row]
                    self.assertEqual(masks.shape, (len(found), 48, 64))
                    self.assertEqual(batch["numbered"][row].shape, (3, 48, 64))
                    for box, mask in zip(found, masks):
                        numpy.testing.assert_array_equal(bounds(mask), box)
                    yield int(sample), int(batch.uses[row]), found.tobytes(), masks.tobytes()

    def test_bad_annotations_are_bad_records_with_a_reason(self):
        daemon = self.started(Daemon(self.stream("mixed", [])))
        replaced = sum(int((batch.flags & 2 != 0).sum()) for batch in self.loader(daemon))
        self.assertEqual(replaced, len(self.reasons))
        for reason in self.reasons:
            self.assertIn(reason, daemon.log().replace("\\", ""))


if __name__ == "__main__":
    main()
