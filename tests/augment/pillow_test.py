"""Compares augmented pixels with Pillow's, with torchvision's semantics and the same draws for random steps."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "decode" / "dump"))
import draws
import pipelines
from pillow_jitter import jitter
from pipelines import Image, decode, difference, drawing, numpy, run

FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
SEED, EPOCH, USE = 7, 3, 2


def random_of(sample, step):
    return draws.Draws(SEED, sample, EPOCH, USE, step)


class Augmented(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.photos = pipelines.photos(cls.folder.name, 30)
        sizes = ((1, 1), (1, 57), (57, 1), (2, 3), (31, 17), (100, 100), (640, 4), (7, 512))
        cls.odd = []
        for width, height in sizes:
            cls.odd.append(pathlib.Path(cls.folder.name, f"{width}x{height}.png"))
            drawing(width, height).save(cls.odd[-1])
        cls.all = cls.photos + cls.odd

    def compare(self, steps, paths, expected, allowed=1, as_="rgb", what=""):
        """Checks that each file's array differs from expected(picture, sample id) by at most `allowed`."""
        mode = {"rgb": "RGB", "gray": "L"}[as_]
        results = run([decode(as_)] + steps, paths, epoch=EPOCH, use=USE, seed=SEED)
        worst = 0
        for sample, (path, ours) in enumerate(zip(paths, results)):
            found = difference(ours, expected(Image.open(path).convert(mode), sample))
            worst = max(worst, found)
            with self.subTest(path=path.name):
                self.assertLessEqual(found, allowed)
        print(f"{self.id().split('.')[-1]} {what}: largest difference {worst:g} over {len(paths)} pictures")

    def test_resize_to_a_size_equals_pillow(self):
        for name, filter_ in FILTERS.items():
            for size in ((224, 224), (97, 31), (1, 1), (500, 375), (640, 800)):
                self.compare([f'resize {{ field: "image" size: [{size[0]}, {size[1]}] interpolation: "{name}" }}'],
                             self.all, lambda picture, _: picture.resize(size[::-1], filter_),
                             what=f"{name} {size}")

    def test_gray_resize_equals_pillow(self):
        for name, filter_ in FILTERS.items():
            self.compare([f'resize {{ field: "image" size: [61, 83] interpolation: "{name}" }}'], self.all,
                         lambda picture, _: picture.resize((83, 61), filter_), as_="gray", what=name)

    def test_resize_of_the_shorter_side_then_center_crop_equals_torchvision(self):
        def expected(picture, _):
            width, height = picture.size
            side = 72
            new = (side, side * height // width) if width <= height else (side * width // height, side)
            picture = picture.resize(new, Image.BILINEAR)
            top, left = round((new[1] - 65) / 2), round((new[0] - 61) / 2)
            return picture.crop((left, top, left + 61, top + 65))
        self.compare(['resize { field: "image" size: 72 }', 'center_crop { field: "image" size: [65, 61] }'],
                     self.all, expected)

    def test_center_crop_pads_what_is_smaller(self):
        def expected(picture, _):
            pixels = numpy.asarray(picture)
            for axis, size in ((0, 51), (1, 90)):
                missing = size - pixels.shape[axis]
                if missing > 0:
                    padding = [(0, 0)] * 3
                    padding[axis] = (missing // 2, (missing + 1) // 2)
                    pixels = numpy.pad(pixels, padding)
                first = round((pixels.shape[axis] - size) / 2)
                pixels = numpy.take(pixels, range(first, first + size), axis)
            return pixels
        self.compare(['center_crop { field: "image" size: [51, 90] }'], self.all, expected, allowed=0)

    def test_random_resized_crop_and_flip_equal_pillow_on_the_same_box(self):
        def expected(filter_):
            def made(picture, sample):
                top, left, height, width = draws.random_resized_crop(random_of(sample, 1), *picture.size[::-1])
                picture = picture.crop((left, top, left + width, top + height)).resize((160, 144), filter_)
                flip = draws.horizontal_flip(random_of(sample, 2))
                return picture.transpose(Image.FLIP_LEFT_RIGHT) if flip else picture
            return made
        for name, filter_ in FILTERS.items():
            self.compare([f'random_resized_crop {{ field: "image" size: [144, 160] interpolation: "{name}" }}',
                          'horizontal_flip { field: "image" probability: 0.5 }'], self.all, expected(filter_),
                         what=name)

    def test_a_flip_before_a_resize_equals_pillow(self):
        for size in ((50, 70), (300, 220)):
            self.compare(['horizontal_flip { field: "image" probability: 1 }',
                          f'resize {{ field: "image" size: [{size[0]}, {size[1]}] }}'], self.all,
                         lambda picture, _: picture.transpose(Image.FLIP_LEFT_RIGHT).resize(size[::-1], Image.BILINEAR))

    def test_random_crop_with_padding_flip_and_cutout_equal_numpy(self):
        def expected(picture, sample):
            pixels = numpy.pad(numpy.asarray(picture), ((20, 20), (20, 20), (0, 0)), constant_values=9)
            top, left = draws.random_crop(random_of(sample, 1), *pixels.shape[:2], 40, 38)
            pixels = pixels[top:top + 40, left:left + 38]
            if draws.horizontal_flip(random_of(sample, 2)):
                pixels = pixels[:, ::-1]
            pixels = pixels.copy()
            top, left, bottom, right = draws.cutout(random_of(sample, 3), 40, 38, 15)
            pixels[top:bottom, left:right] = 200
            return pixels
        self.compare(['random_crop { field: "image" size: [40, 38] padding: 20 fill: 9 }',
                      'horizontal_flip { field: "image" probability: 0.5 }',
                      'cutout { field: "image" size: 15 fill: 200 }'], self.all, expected, allowed=0)

    def test_color_jitter_equals_pillow(self):
        cases = [dict(brightness=0.4), dict(contrast=0.4), dict(saturation=0.9), dict(hue=0.5),
                 dict(brightness=1.5, contrast=1.5, saturation=1.5)]
        for amounts in cases:
            text = " ".join(f"{name}: {value}" for name, value in amounts.items())
            for as_ in ("rgb", "gray"):
                self.compare([f'color_jitter {{ field: "image" {text} }}'], self.all,
                             lambda picture, sample: jitter(picture, draws.color_jitter(random_of(sample, 1), **amounts)),
                             as_=as_, what=f"{text} {as_}")

    def test_all_four_jitters_together_equal_pillow_where_the_step_changes_a_picture(self):
        amounts = dict(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1, probability=0.6)
        text = " ".join(f"{name}: {value}" for name, value in amounts.items())
        self.compare([f'color_jitter {{ field: "image" {text} }}'], self.all,
                     lambda picture, sample: jitter(picture, draws.color_jitter(random_of(sample, 1), **amounts)))

    def test_normalize_equals_numpy_in_float32(self):
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

        def expected(layout, dtype):
            def made(picture, sample):
                pixels = numpy.asarray(picture)
                if draws.horizontal_flip(random_of(sample, 1)):
                    pixels = pixels[:, ::-1]
                values = (pixels.astype(numpy.float32) / numpy.float32(255) - numpy.float32(mean)) / numpy.float32(std)
                return (values.transpose(2, 0, 1) if layout == "chw" else values).astype(dtype)
            return made
        for layout in ("chw", "hwc"):
            for dtype in ("float32", "float16"):
                self.compare(['horizontal_flip { field: "image" probability: 0.5 }',
                              f'normalize {{ field: "image" mean: {mean} std: {std} dtype: "{dtype}" layout: "{layout}" }}'],
                             self.all, expected(layout, dtype), allowed=0, what=f"{layout} {dtype}")

    def test_other_uses_and_epochs_draw_other_crops(self):
        steps = [decode(), 'random_resized_crop { field: "image" size: 32 }']
        made = [run(steps, self.photos[:4], epoch=epoch, use=use) for epoch, use in ((0, 0), (0, 1), (1, 0), (0, 0))]
        for first, second, third, again in zip(*made):
            self.assertGreater(difference(first, second), 1)
            self.assertGreater(difference(first, third), 1)
            self.assertEqual(difference(first, again), 0)


if __name__ == "__main__":
    unittest.main()
