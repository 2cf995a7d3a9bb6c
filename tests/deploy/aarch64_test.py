#!/usr/bin/env python3
"""The wheel that `deploy/wheel.sh --aarch64` cross-builds: its tag, and that its programs and its Python module run, in QEMU's
emulation of the processor, and give the same samples and pixels as those for x86-64.

Needs Debian 12 with the sections build, test, cross and deploy of deploy/packages.txt, pip's index for numpy, and build/release.
QEMU starts each program by its name: nothing is changed in the kernel, and workers of `python` steps are not started."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from clean_root import ROOT, need, run

sys.path.insert(0, str(ROOT / "tests" / "process"))
from support.photos import made_shards  # noqa: E402  (its folder is known now)

SYSROOT = ROOT / "build/aarch64/sysroot"
QEMU = ["qemu-aarch64-static", "-L", SYSROOT]
PYTHON = "3.11"  # Debian 12's, which is in the sysroot, too
CONFIG = """
daemon: {{runtime_dir: {folder}/run, state_dir: {folder}/state, metrics: "off", memory: 256MiB, workers: 2}}
streams:
  train:
    seed: 7
    pipeline:
      - read: {{url: "{shards}/photos-*.tar", format: webdataset}}
      - shuffle: {{window: all}}
      - echo: {{factor: 2, window: 20}}
      - decode: {{image: {{key: jpg, as: rgb}}, label: {{key: cls, as: int64}}}}
      - random_resized_crop: {{field: image, size: [48, 48]}}
      - horizontal_flip: {{field: image}}
      - rand_augment: {{field: image}}
{more}      - batch: {{size: 8}}
"""
NORMALIZE = "      - normalize: {field: image, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}\n"
TRAINER = """
import hashlib, json, platform, sys
import echoline, numpy
found = {"ids": [], "hash": hashlib.sha256(), "sum": 0.0}
with echoline.Loader("train", runtime_dir=sys.argv[1], wait="5min") as loader:
    for batch in loader:
        found["ids"] += [(int(sample), int(use)) for sample, use in zip(batch.sample_ids, batch.uses)]
        found["hash"].update(numpy.ascontiguousarray(batch["image"]).tobytes() + batch["label"].tobytes())
        found["sum"] += float(batch["image"].astype("float64").sum())
print(json.dumps({**found, "hash": found["hash"].hexdigest(), "machine": platform.machine()}))
"""


def wheel(folder, *options, **environment):
    run(ROOT / "deploy/wheel.sh", *options, folder, env={**os.environ, **environment})
    found, = folder.glob("*.whl")
    return found


class Aarch64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("aarch64-linux-gnu-g++", "mmdebstrap", QEMU[0]):
            need(shutil.which(program), f"{program} (deploy/install-packages.sh cross deploy)")
        release = ROOT / "build/release"
        need((release / "daemon/echolined").exists(), "build/release")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.wheel = wheel(cls.folder / "aarch64", "--aarch64")
        cls.installed = {"x86_64": cls.folder / "x86_64/installed", "aarch64": cls.folder / "aarch64/installed"}
        cls.pip("x86_64", wheel(cls.folder / "x86_64", ECHOLINE_BUILD=str(release)))
        cls.pip("aarch64", cls.wheel)
        (cls.folder / "shards").mkdir()
        made_shards(cls.folder / "shards", shards=3, records=20)

    @classmethod
    def pip(cls, machine, file):
        """As pip of that machine with glibc 2.35 would install it, with numpy."""
        tags = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (35, 28, 27, 17)]
        run(ROOT / "build/wheel/bin/python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", *tags,
            "--implementation=cp", f"--python-version={PYTHON}", f"--target={cls.installed[machine]}", file, "numpy")

    def command(self, machine, program, *arguments):
        """The program of the wheel, or `python`, of that machine."""
        if program == "python":
            path = f"{SYSROOT if machine == 'aarch64' else ''}/usr/bin/python{PYTHON}"
        else:
            path = self.installed[machine] / "echoline/bin" / program
        return list(map(str, [*(QEMU if machine == "aarch64" else []), path, *arguments]))

    def read(self, machine, more):
        """What the trainer of that machine gets from its daemon."""
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "echoline.yaml")
            config.write_text(CONFIG.format(folder=folder, shards=self.folder / "shards", more=more))
            with open(f"{folder}/log", "wb") as log, \
                    subprocess.Popen(self.command(machine, "echolined", "--config", config), stdout=log, stderr=log) as daemon:
                try:
                    said = run(*self.command(machine, "python", "-c", TRAINER, f"{folder}/run"), timeout=600,
                               env={**os.environ, "PYTHONPATH": str(self.installed[machine])})
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    raise AssertionError(f"{error}\n{pathlib.Path(folder, 'log').read_text()}") from error
                finally:
                    daemon.terminate()
                self.assertEqual(daemon.wait(60), 0)
        return json.loads(said.splitlines()[-1])

    def test_tag_and_content(self):
        self.assertRegex(self.wheel.name, r"^echoline-\d+\.\d+\.\d+-cp39-abi3-manylinux_2_35_aarch64\.whl$")
        self.assertLess(self.wheel.stat().st_size, 60_000_000)
        with zipfile.ZipFile(self.wheel) as files:
            for name in files.namelist():
                content = files.read(name)
                if content[:4] == b"\x7fELF":
                    self.assertEqual(content[18:20], b"\xb7\x00", f"{name} is not for aarch64")

    def test_the_programs_run(self):
        for program in ("echolined", "echoline"):
            self.assertRegex(run(*self.command("aarch64", program, "--version")), rf"^{program} \d+\.\d+\.\d+")

    def test_samples_and_pixels_are_those_of_x86(self):
        found, expected = self.read("aarch64", ""), self.read("x86_64", "")
        self.assertEqual((found.pop("machine"), expected.pop("machine")), ("aarch64", "x86_64"))
        self.assertEqual(len(expected["ids"]), 120)
        self.assertEqual(found, expected)

    def test_floats_are_those_of_x86(self):
        found, expected = self.read("aarch64", NORMALIZE), self.read("x86_64", NORMALIZE)
        self.assertEqual((found["ids"], found["hash"]), (expected["ids"], expected["hash"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
