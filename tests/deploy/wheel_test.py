#!/usr/bin/env python3
"""The manylinux wheel of deploy/wheel.sh reads a stream under every CPython 3.9 or later on PATH (and those of
ECHOLINE_PYTHONS=PROGRAM:PROGRAM...), in a virtual environment that has only numpy in addition."""
import os
import pathlib
import shutil
import tempfile
import unittest
import zipfile

from clean_root import ROOT, need, run

STREAM = """
daemon: {{runtime_dir: {folder}/run, state_dir: {folder}/state, metrics: "off", memory: 256MiB}}
streams:
  train:
    pipeline:
      - read: {{url: "{folder}/set-*.tar", format: webdataset}}
      - decode: {{image: {{key: u8, as: uint8, shape: [2, 3]}}, label: {{key: cls, as: int64}}}}
      - batch: {{size: 4, last: partial}}
"""
PROGRAM = """
import sys, echoline
with echoline.serve(sys.argv[1]) as daemon:
    loader = echoline.Loader("train", runtime_dir=daemon.runtime_dir)
    print(sorted(int(label) for batch in loader for label in batch["label"]), sys.version_info[:2])
"""


def pythons():
    """{version: program}, without wrappers of versions that are not installed."""
    named = [shutil.which(f"python3.{minor}") for minor in range(9, 20)] + os.environ.get("ECHOLINE_PYTHONS", "").split(":")
    found = {}
    for program in filter(None, named):
        version = run(program, "-c", "import sys; print(*sys.version_info[:2], sys.implementation.name)", check=False)
        if version.endswith("cpython\n"):
            found.setdefault(version, program)
    need(found, "a CPython from 3.9 on")
    return found.values()


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.programs = {path.name: path for path in (ROOT / "build/release/daemon").rglob("echoline*")
                        if path.name in ("echoline", "echolined") and os.access(path, os.X_OK)}
        need(len(cls.programs) == 2, "the programs in build/release (cmake --preset release; cmake --build --preset release)")
        run(ROOT / "deploy/wheel.sh", cls.folder / "dist")
        cls.wheel, = (cls.folder / "dist").glob("*.whl")

    def test_the_wheel_has_the_right_tag_and_content(self):
        self.assertRegex(self.wheel.name, r"^echoline-\d+\.\d+\.\d+-cp39-abi3-manylinux_2_\d+_\w+\.whl$")
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertIn("echoline/_echoline.abi3.so", names)
        self.assertFalse([name for name in names if ".libs/" in name], "it needs no library but the system's")

    def test_every_python_reads_a_stream(self):
        images = bytes([0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 3]) + b"".join(bytes([n] * 6) for n in range(10))
        (self.folder / "images").write_bytes(images)
        (self.folder / "labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 10, *range(10)]))
        run(self.programs["echoline"], "pack", "--from", "idx", "--output", self.folder, "--name", "set",
            self.folder / "images", self.folder / "labels")
        config = self.folder / "stream.yaml"
        config.write_text(STREAM.format(folder=self.folder), encoding="utf-8")
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith("ECHOLINE_") and key != "PYTHONPATH"}
        for python in pythons():
            with self.subTest(python), tempfile.TemporaryDirectory() as venv:
                run(python, "-m", "venv", venv)
                run(f"{venv}/bin/python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", self.wheel)
                said = run(f"{venv}/bin/python", "-c", PROGRAM, config, cwd=self.folder,
                           env={**clean, "ECHOLINE_DAEMON": str(self.programs["echolined"])})
                print(said.strip())
                self.assertIn(str(list(range(10))), said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
