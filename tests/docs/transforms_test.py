#!/usr/bin/env python3
"""docs/transforms.md has every step, and its pictures show what the daemon makes today.

ECHOLINE_UPDATE_DOCS=1 writes the pictures, as Pillow's WebP, instead of comparing them."""
import os
import sys
import tempfile
import unittest

from pages import DOCS, ROOT

sys.path[:0] = [str(ROOT / "tests" / "process")]
import numpy
import step_sheets
from echoline import steps
from PIL import Image, features
from support.programs import binary

# They change no sample, or do what the user's code does.
NOT_SHOWN = {"read", "mix", "cache", "shuffle", "prepare", "echo", "batch", "publish", "python", "plugin"}
# A mean over the squares of 6 x 6 pixels of a tile. WebP changes it by up to 4, another draw of a crop by 14 and more.
DIFFERENCE_MAX = 5


def path_of(sheet):
    return DOCS / f"transforms_{sheet}.webp"


def squares(tile):
    return numpy.asarray(tile.reduce(6), int)


class Transforms(unittest.TestCase):
    PAGE = (DOCS / "transforms.md").read_text(encoding="utf-8")

    def test_the_page_names_every_step(self):
        for step in steps.__all__:
            self.assertIn(f"[`{step}`](config.md#{step})", self.PAGE)

    def test_every_step_that_changes_samples_is_shown(self):
        shown = {one.step for rows in step_sheets.SHEETS.values() for row in rows for one in row}
        self.assertEqual(set(steps.__all__) - NOT_SHOWN, shown - {""})

    def test_the_pictures_are_those_of_the_daemon(self):
        if not features.check("webp"):
            self.skipTest("Pillow without WebP")
        os.environ["ECHOLINE_DAEMON"] = binary("ECHOLINED")
        with tempfile.TemporaryDirectory() as folder:
            made = step_sheets.make(folder)
        for name, (sheet, placed) in made.items():
            if os.environ.get("ECHOLINE_UPDATE_DOCS"):
                sheet.save(path_of(name), quality=82, method=6)
            with Image.open(path_of(name)) as stored:
                self.assertEqual(stored.size, sheet.size, f"{path_of(name)}: ECHOLINE_UPDATE_DOCS=1 writes it")
                for tile, left, top in placed:
                    shown = stored.convert("RGB").crop((left, top, left + tile.width, top + tile.height))
                    difference = numpy.abs(squares(shown) - squares(tile)).mean()
                    self.assertLess(difference, DIFFERENCE_MAX,
                                    f"{path_of(name)} at {left}, {top}: ECHOLINE_UPDATE_DOCS=1 writes it")


if __name__ == "__main__":
    unittest.main()
