#!/usr/bin/env python3
"""Runs or checks every code block of README.md and docs/, in the order of its page, and the notebooks.

    yaml     `echoline check --offline`     python, cpp, c   against a private daemon
    sh       in a separate folder, or by another test listed in elsewhere.txt

Blocks in other languages, or without a language, are pictures and output. The environment is that of tests/process."""
import os
import pathlib
import re
import tempfile
import unittest

from pages import ROOT, blocks_of, name_of, notebooks, pages
from session import Session

SHOWN = ("", "text", "json", "cmake", "ini", "promql")


def elsewhere():
    """elsewhere.txt as {(page, first line or *): the test that runs it}."""
    found = {}
    for line in pathlib.Path(__file__).with_name("elsewhere.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            page, _, rest = line.partition(" | ")
            first, _, runner = rest.rpartition(" | ")
            found[page, first] = runner
    return found


class Snippets(unittest.TestCase):
    ELSEWHERE = elsewhere()

    def try_page(self, page):
        with tempfile.TemporaryDirectory(prefix="echoline-docs-") as folder:
            session = Session(folder)
            self.addCleanup(session.stop_daemon)
            run = {"sh": session.shell, "python": session.python, "yaml": session.yaml, "cpp": session.compiled,
                   "c": session.compiled}
            for block in blocks_of(page):
                if self.runner(block) or block.language in SHOWN:
                    continue
                with self.subTest(block=str(block)):
                    self.assertIn(block.language, run, "no test runs this language")
                    try:
                        run[block.language](block)
                    except LookupError as error:
                        print(f"{block} was not run: {error}", flush=True)
            session.stop_daemon()

    def runner(self, block):
        return self.ELSEWHERE.get((block.page, block.first_line)) or self.ELSEWHERE.get((block.page, "*"))

    def test_notebooks(self):
        found = list(notebooks())
        self.assertTrue(found, "no notebooks")
        for notebook in found:
            with self.subTest(notebook=notebook.page), tempfile.TemporaryDirectory(prefix="echoline-docs-") as folder:
                session = Session(folder)
                self.addCleanup(session.stop_daemon)
                session.python(notebook)
                session.stop_daemon()

    def test_what_runs_elsewhere_is_there(self):
        blocks = [block for page in pages() for block in blocks_of(page)]
        listed = "".join(path.read_text(encoding="utf-8") for path in
                         pathlib.Path(os.environ["ECHOLINE_BUILD"], "tests").glob("*/CTestTestfile.cmake"))
        tests = set(re.findall(r"add_test\((?:\[=\[)?([\w.]+)", listed))
        for (page, first), runner in self.ELSEWHERE.items():
            with self.subTest(page=page, first=first):
                self.assertTrue(any(block.page == page and first in (block.first_line, "*") for block in blocks),
                                "no block begins with this line")
                kind, _, name = runner.partition(" ")
                if kind == "ctest":
                    self.assertTrue(set(name.split(" and ")) <= tests, name)
                elif kind != "by-hand:":
                    self.assertTrue((ROOT / runner).exists(), runner)

    def test_commands_are_fenced(self):
        for page in pages():
            fenced = False
            for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
                fenced ^= line.lstrip().startswith("```")
                if not fenced:
                    self.assertNotRegex(line, r"^    (echoline|echolined|cmake|pip|python3?|deploy/|tests/|docker|"
                                        r"podman|kubectl|systemctl|apt|memcached)\b", f"{name_of(page)}:{number}")


for each in pages():
    setattr(Snippets, f"test_{'top_' * (each.parent == ROOT)}{each.stem}", lambda self, page=each: self.try_page(page))


if __name__ == "__main__":
    unittest.main()
