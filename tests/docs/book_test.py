#!/usr/bin/env python3
"""mkdocs builds docs/ as a book without warnings, with every page, and without requests to other hosts."""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from pages import DOCS, ROOT

CONFIG = ROOT / "deploy" / "docs" / "mkdocs.yml"


def mkdocs():
    """mkdocs of the tests' virtual environment, else of PATH; None if it is missing."""
    own = ROOT / "build" / "venv" / "bin" / "mkdocs"
    return own if os.access(own, os.X_OK) else shutil.which("mkdocs")


class Requests(html.parser.HTMLParser):
    """The addresses that a browser fetches without a click."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "src" or name == "href" and tag == "link":
                self.found.append(value or "")


class Book(unittest.TestCase):
    def test_every_page_is_in_the_list_of_pages(self):
        listed = re.findall(r"^ *- (?:[^#:\n]*: )?(\S+\.md)$", CONFIG.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(page.name for page in DOCS.glob("*.md")),
                         f"the pages of docs/ and the nav of {CONFIG} differ")

    def test_every_picture_is_shown(self):
        text = "".join(page.read_text(encoding="utf-8") for page in (*DOCS.glob("*.md"), ROOT / "README.md"))
        for picture in (path for kind in ("svg", "png", "webp") for path in DOCS.rglob(f"*.{kind}")):
            self.assertIn(picture.name, text)

    def test_it_builds_without_a_warning_and_without_requests(self):
        if mkdocs() is None:
            self.skipTest("mkdocs-material is missing; tests/run.sh installs it")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([mkdocs(), "build", "--strict", "--config-file", CONFIG, "--site-dir", folder],
                                  env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("WARNING", done.stderr)
            for page in pathlib.Path(folder).rglob("*.html"):
                requests = Requests()
                requests.feed(page.read_text(encoding="utf-8"))
                self.assertTrue(requests.found)
                self.assertEqual([], [found for found in requests.found if re.match(r"(https?:)?//", found)], page)
            for sheet in pathlib.Path(folder).rglob("*.css"):
                self.assertNotRegex(sheet.read_text(encoding="utf-8"), r"(url\(|@import )['\"]?(https?:)?//")


if __name__ == "__main__":
    unittest.main()
