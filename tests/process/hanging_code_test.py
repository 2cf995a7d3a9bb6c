#!/usr/bin/env python3
"""User code that hangs, or is slow, while a stream is opened or checked: who waits learns of it, two samples that are given
up end the tries, and nothing is refused that `bad_records` allows."""
import json
import re
import shutil

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, run_echoline, wait_until

PYTHON = shutil.which("python3", path="/usr/bin") or "python3"  # this Python has numpy
HALF_BAD = "    bad_records: {limit: 0.5}\n"
TOLD = "no more were tried, because user code exceeded its `timeout` for two"
SOURCE = """
import os
import time


def late_once(name):
    try:
        open(os.path.join(os.path.dirname(__file__), name), "x").close()
        time.sleep(3600)
    except FileExistsError:
        pass


def hangs_for(condition):
    if condition:
        time.sleep(3600)


def hangs_first(sample, rng):
    hangs_for(int(sample["label"]) in (0, 100))
    return {"label": sample["label"]}


def hangs_and_is_late(sample, rng):
    hangs_for(int(sample["label"]) == 0)
    return is_late(sample, rng)


def is_late(sample, rng, name="a"):
    if int(sample["label"]) == 1:
        late_once(name)
    return {"label": sample["label"]}


def is_late_too(sample, rng):
    return is_late(sample, rng, "b")


class Set:
    def __len__(self):
        return 100

    def __getitem__(self, index):
        self.call(index)
        return {"x": index}


class Hangs(Set):
    def call(self, index):
        hangs_for(True)


class HangsLater(Set):
    def call(self, index):
        hangs_for(index in (50, 75))


class HangsSoon(Set):
    def call(self, index):
        hangs_for(index in (1, 2))


class LateOnce(Set):
    def call(self, index):
        if index in (0, 2, 4, 6):
            late_once(str(index))
"""


class HangingCode(ProcessCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder()
        self.source = self.place / "slow.py"
        self.source.write_text(SOURCE)

    def code(self, function, out, timeout="300ms"):
        settings = f"timeout: {timeout}, workers: 1, interpreter: {PYTHON}"
        return f"python: {{file: {self.source}, function: {function}, {settings}, out: {{{out}: {{as: int64}}}}}}"

    def set_of(self, function, more="", **settings):
        return self.unstarted(Daemon(stream_yaml([f"read: {{{self.code(function, 'x', **settings)}}}", "batch: {size: 4}"], more=more)))

    def mixture(self, *functions, key="y"):
        """Of the labels 0 to 39 and 100 to 139."""
        sources = []
        for name, first in (("a", 0), ("b", 100)):
            lines = self.place / f"{name}.jsonl"
            lines.write_text("".join(json.dumps({"y": label}) + "\n" for label in range(first, first + 40)))
            field = "y" if name == "a" else key
            sources.append(f"{{name: {name}, weight: 0.5, read: {{url: '{lines}', format: jsonl}}, "
                           f"decode: {{label: {{key: {field}, as: int64}}}}}}")
        steps = [f"mix: {{sources: [{', '.join(sources)}], at_end: drop}}", "decode: {label: {key: y, as: int64}}",
                 *(self.code(function, "label") for function in functions), "batch: {size: 4}"]
        daemon = self.unstarted(Daemon(stream_yaml(steps, more=HALF_BAD)))
        self.assertEqual(run_echoline("index", daemon.config).returncode, 0)
        return daemon

    def check(self, daemon, *options, returncode=0):
        checked = run_echoline("check", daemon.config, *options)
        self.assertEqual(checked.returncode, returncode, checked.stdout + checked.stderr)
        return checked.stderr if returncode else checked.stdout

    def test_it_is_named_and_given_up_after_two_samples(self):
        daemon = self.set_of("Hangs", timeout="1s")
        daemon.spawn()
        said = r"the first records are read, and prepared by user code \(Hangs of .*/slow\.py\), for \d s"
        wait_until(lambda: re.search(said, daemon.command("list").stdout), daemon.log)
        reader = daemon.reader("--batches", 1)
        self.addCleanup(reader.kill)
        reason = r"none of the first 2 records can .* Hangs: a call took more than 1000 ms \(timeout\), twice"
        self.assertRegex(reader.communicate(timeout=PATIENCE)[1].decode(), reason)
        self.assertEqual(daemon.process.wait(PATIENCE), 1)

    def test_check_tries_fewer_records_and_refuses_what_an_epoch_may_not_have(self):
        text = self.check(self.set_of("HangsLater"), returncode=1)
        self.assertRegex(text, r"2 of 13 records that were tried are bad, and .* allows 1 .*: sample 50 .*; " + TOLD)
        text = self.check(self.set_of("HangsLater", HALF_BAD))
        self.assertRegex(text, rf"records tried: \d+, bad: 2; {TOLD}\n    sample 50 .*\(timeout\), twice\n")
        self.assertIn("called twice for a few samples: equal", text)
        # Those of the second calls.
        daemon = self.set_of("HangsSoon", HALF_BAD)
        self.assertRegex(self.check(daemon), rf"records tried: 18, bad: 2; {TOLD}\n    sample 1 ")
        self.assertIs(json.loads(self.check(daemon, "--json"))["streams"]["train"]["tried_as_intended"], False)

    def test_samples_that_are_only_late_are_good(self):
        text = self.check(self.set_of("LateOnce"))
        self.assertRegex(text, r"records tried: \d+, bad: 0\n")

    def test_each_source_of_a_mixture_is_tried(self):
        # Of the first source one sample is given up, and another one late for two functions.
        text = self.check(self.mixture("hangs_and_is_late", "is_late_too", key="nothing"), returncode=1)
        self.assertRegex(text, r"mix: source b: none of the first 8 records can .*nothing")
        self.assertRegex(self.check(self.mixture("hangs_first")), r"records tried: \d+, bad: [12]\n")


if __name__ == "__main__":
    main()
