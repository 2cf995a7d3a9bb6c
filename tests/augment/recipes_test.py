"""Compares the steps of image recipes with Pillow, and with torchvision.transforms.v2 itself where it is installed,
with the same draws."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "decode" / "dump"))
import draws
import pillow_recipes
import pipelines
from pillow_recipes import Image, ImageOps
from pipelines import decode, difference, drawing, numpy, run

SEED, EPOCH, USE = 7, 3, 2
SAMPLINGS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR}


def random_of(sample, step=1):
    return draws.Draws(SEED, sample, EPOCH, USE, step)


def settings(**values):
    """Settings of a step as protobuf's text."""
    return "".join(f' {name}: {chr(34) + value + chr(34) if isinstance(value, str) else value}'
                   for name, value in values.items())


class Compared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.paths = pipelines.photos(folder.name, 3)
        for width, height in ((1, 1), (1, 57), (57, 1), (2, 3), (31, 17), (100, 100), (64, 64), (640, 4), (7, 512)):
            cls.paths.append(pathlib.Path(folder.name, f"{width}x{height}.png"))
            drawing(width, height).save(cls.paths[-1])
        cls.paths *= 3  # the draws differ from sample to sample

    def compare(self, step, expected, allowed=0, as_="rgb"):
        """Checks that each array differs from expected(picture, sample) by at most `allowed`."""
        results = run([decode(as_), step], self.paths, epoch=EPOCH, use=USE, seed=SEED)
        mode, changed, worst = {"rgb": "RGB", "gray": "L"}[as_], 0, 0
        for sample, (path, ours) in enumerate(zip(self.paths, results)):
            picture = Image.open(path).convert(mode)
            theirs = expected(picture, sample)
            changed += (numpy.asarray(picture) != numpy.asarray(theirs)).any()
            found = difference(ours, theirs)
            worst = max(worst, found)
            with self.subTest(step=step, path=path.name, sample=sample):
                self.assertLessEqual(found, allowed)
        print(f"{step}: {changed} of {len(self.paths)} pictures change, largest difference {worst:g}")
        self.assertGreater(changed, 0)


class Pillow(Compared):
    def recipes(self, interpolation, fill):
        """(step, its draws for a sample and a size) of each recipe."""
        more = settings(interpolation=interpolation, fill=fill)
        yield (f'rand_augment {{ field: "image" operations: 5 magnitude: 11{more} }}',
               lambda sample, size: pillow_recipes.rand_augment(random_of(sample), size, 5, 11))
        yield (f'trivial_augment_wide {{ field: "image"{more} }}',
               lambda sample, size: pillow_recipes.trivial_augment_wide(random_of(sample), size))
        for policy in pillow_recipes.POLICIES:
            yield (f'auto_augment {{ field: "image" policy: "{policy}"{more} }}',
                   lambda sample, size, policy=policy: pillow_recipes.auto_augment(random_of(sample), size, policy))

    def test_recipes_equal_pillow(self):
        for interpolation, resample in SAMPLINGS.items():
            for step, drawn in self.recipes(interpolation, [9, 90, 200]):
                self.compare(step, lambda picture, sample: pillow_recipes.apply_all(
                    picture, drawn(sample, picture.size), resample, (9, 90, 200)))

    def test_a_recipe_of_gray_pictures_equals_pillow(self):
        step, drawn = next(self.recipes("bilinear", 77))
        self.compare(step, lambda picture, sample: pillow_recipes.apply_all(
            picture, drawn(sample, picture.size), Image.BILINEAR, 77), as_="gray")

    def test_steps_with_a_probability_equal_pillow(self):
        cases = {"grayscale": ({}, lambda p: p.convert("L").convert(p.mode)),
                 "solarize": ({"threshold": 100}, lambda p: ImageOps.solarize(p, 100)),
                 "posterize": ({"bits": 3}, lambda p: ImageOps.posterize(p, 3)),
                 "invert": ({}, ImageOps.invert), "equalize": ({}, ImageOps.equalize),
                 "autocontrast": ({}, ImageOps.autocontrast),
                 "adjust_sharpness": ({"factor": 1.7}, lambda p: pillow_recipes.apply(p, "Sharpness", 0.7))}
        for name, (values, change) in cases.items():
            self.compare(f'{name} {{ field: "image" probability: 0.7{settings(**values)} }}',
                         lambda picture, sample: change(picture) if draws.chance(random_of(sample), 0.7) else picture,
                         as_="gray" if name in ("solarize", "equalize") else "rgb")

    def test_gaussian_blur_equals_numpy(self):
        def expected(picture, sample):
            sigma = draws.blur_sigma(random_of(sample), 0.8, (0.1, 6.0))
            return picture if sigma is None else pillow_recipes.gaussian_blur(picture, 9, sigma)
        for as_ in ("rgb", "gray"):
            self.compare('gaussian_blur { field: "image" size: 9 sigma: [0.1, 6] probability: 0.8 }', expected,
                         allowed=1, as_=as_)

    def test_random_erasing_equals_numpy(self):
        def expected(picture, sample):
            pixels = numpy.array(picture)
            box = draws.random_erasing(random_of(sample), *pixels.shape[:2], 0.8, (0.02, 0.6))
            if box:
                pixels[box[0]:box[0] + box[2], box[1]:box[1] + box[3]] = (124, 116, 104)
            return pixels
        self.compare('random_erasing { field: "image" probability: 0.8 scale: [0.02, 0.6] fill: [124, 116, 104] }',
                     expected)

    def test_a_recipe_between_a_flip_and_a_blur_equals_pillow(self):
        def expected(picture, sample):
            picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
            changes = pillow_recipes.rand_augment(random_of(sample, 2), picture.size)
            picture = pillow_recipes.apply_all(picture, changes)
            return pillow_recipes.gaussian_blur(picture, 5, draws.blur_sigma(random_of(sample, 3)))
        steps = ['horizontal_flip { field: "image" probability: 1 }', 'rand_augment { field: "image" }',
                 'gaussian_blur { field: "image" size: 5 }']
        for path, sample, ours in zip(self.paths, range(len(self.paths)),
                                      run([decode(), *steps], self.paths, epoch=EPOCH, use=USE, seed=SEED)):
            with self.subTest(path=path.name, sample=sample):
                self.assertLessEqual(difference(ours, expected(Image.open(path).convert("RGB"), sample)), 1)


class Torchvision(Compared):
    """The same recipes, made by torchvision's own classes, which get Echoline's draws in place of torch's."""

    @classmethod
    def setUpClass(cls):
        # Debian 12 has an older one, whose import takes seconds.
        found = importlib.util.find_spec("torchvision")
        if found is None or not (pathlib.Path(found.origin).parent / "transforms" / "v2").is_dir():
            print("skipped: the comparison with torchvision needs its version 0.17 or later", flush=True)
            raise unittest.SkipTest("torchvision 0.17 or later is missing")
        import torch
        from torchvision.transforms import v2
        cls.torch, cls.v2 = torch, v2
        super().setUpClass()

    def with_draws(self, transform):
        def made(picture, sample):
            random = random_of(sample)
            with unittest.mock.patch.multiple(self.torch, rand=lambda *_: random.uniform(),
                                              randint=lambda bound, *_: random.below(bound)):
                return transform(picture)
        return made

    def test_recipes_equal_torchvision(self):
        v2, fill = self.v2, [9, 90, 200]
        for name in SAMPLINGS:
            method = v2.InterpolationMode(name)
            more = settings(interpolation=name, fill=fill)
            cases = {f'rand_augment {{ field: "image" operations: 3 magnitude: 11{more} }}':
                         v2.RandAugment(3, 11, 31, method, fill),
                     f'trivial_augment_wide {{ field: "image"{more} }}': v2.TrivialAugmentWide(31, method, fill)}
            for policy in v2.AutoAugmentPolicy:
                step = f'auto_augment {{ field: "image" policy: "{policy.value}"{more} }}'
                cases[step] = v2.AutoAugment(policy, method, fill)
            for step, transform in cases.items():
                self.compare(step, self.with_draws(transform))

    def test_steps_with_a_probability_equal_torchvision(self):
        v2 = self.v2
        cases = {"grayscale {": v2.RandomGrayscale(0.7), "solarize { threshold: 100": v2.RandomSolarize(100, 0.7),
                 "posterize { bits: 3": v2.RandomPosterize(3, 0.7), "invert {": v2.RandomInvert(0.7),
                 "equalize {": v2.RandomEqualize(0.7), "autocontrast {": v2.RandomAutocontrast(0.7),
                 "adjust_sharpness { factor: 1.7": v2.RandomAdjustSharpness(1.7, 0.7)}
        for step, transform in cases.items():
            self.compare(f'{step} field: "image" probability: 0.7 }}', self.with_draws(transform))

    def test_gaussian_blur_equals_torchvision(self):
        def expected(picture, sample):
            sigma = draws.blur_sigma(random_of(sample), 1, (0.1, 6.0))
            if min(picture.size) < 5:  # torchvision refuses these
                return pillow_recipes.gaussian_blur(picture, 9, sigma)
            return self.v2.functional.gaussian_blur(picture, [9, 9], [sigma, sigma])
        self.compare('gaussian_blur { field: "image" size: 9 sigma: [0.1, 6] }', expected, allowed=1)


if __name__ == "__main__":
    unittest.main()
