#!/usr/bin/env python3
"""The manylinux wheel of deploy/wheel.sh is all that is needed: README's example runs under every CPython 3.9 or later on
PATH (and those of ECHOLINE_PYTHONS=PROGRAM:PROGRAM...), in a virtual environment that has only numpy in addition, and in
clean systems (clean_root.SYSTEMS) that have only Python, for a user who is not root."""
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest
import zipfile

from clean_root import ROOT, SYSTEMS, CleanRoot, need, run

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAM = README.split("```python\n", 1)[1].split("```", 1)[0]
COMMANDS = """
python3 -m venv --system-site-packages train
train/bin/pip install --quiet --no-index --find-links /opt /opt/{wheel}
train/bin/echolined --version
train/bin/python example.py
"""
OLD_NUMPY = {"jammy": "3.10"}  # {system: its Python}, whose own numpy is too old
EXPECTED = PROGRAM.splitlines()[-1].split("# ")[1]


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
        build = ROOT / "build/release"
        need((build / "daemon/echolined").exists(), "build/release (cmake --preset release; cmake --build --preset release)")
        run(ROOT / "deploy/wheel.sh", cls.folder / "dist", env={**os.environ, "ECHOLINE_BUILD": str(build)})
        cls.wheel, = (cls.folder / "dist").glob("*.whl")

    def test_the_wheel_has_the_right_tag_and_content(self):
        self.assertRegex(self.wheel.name, r"^echoline-\d+\.\d+\.\d+-cp39-abi3-manylinux_2_35_\w+\.whl$")
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertIn("echoline/_echoline.abi3.so", names)
        self.assertLessEqual({"echoline/bin/echolined", "echoline/bin/echoline", "echoline/bin/echoline-plugin-runner"}, set(names))
        self.assertLess(self.wheel.stat().st_size, 60_000_000)

    def test_every_python_runs_the_example_of_the_first_page(self):
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith("ECHOLINE_") and key != "PYTHONPATH"}
        for python in pythons():
            with self.subTest(python), tempfile.TemporaryDirectory() as venv:
                run(python, "-m", "venv", venv)
                run(f"{venv}/bin/python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", self.wheel)
                said = run(f"{venv}/bin/python", "-c", PROGRAM, cwd=self.folder, env=clean)
                self.assertIn(EXPECTED, said)

    def test_a_user_of_a_clean_system_runs_the_example_in_less_than_a_minute(self):
        """The minute begins on a machine with Python and numpy."""
        for system in SYSTEMS:
            with self.subTest(system), CleanRoot(system) as root:
                root.install("python3-venv", "python3-numpy")  # no package index is needed then
                root.call("useradd", "--create-home", "user")
                shutil.copy(self.wheel, root.folder / "opt")
                if system in OLD_NUMPY:
                    run(sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--no-deps",
                        "--python-version", OLD_NUMPY[system], "--dest", root.folder / "opt", "numpy")
                root.write("/home/user/example.py", PROGRAM)
                root.write("/home/user/commands", COMMANDS.format(wheel=self.wheel.name))
                begin = time.monotonic()
                said = root.call("su", "user", "--login", "--command", "bash -eu commands")
                seconds = time.monotonic() - begin
                print(f"{system}: {seconds:.1f} s\n{said}")
                self.assertIn(EXPECTED, said)
                self.assertRegex(said, r"echolined \d+\.\d+\.\d+")
                self.assertLess(seconds, 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
