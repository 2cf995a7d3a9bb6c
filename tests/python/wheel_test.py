"""The wheel: built by setuptools and CMake, installed in a clean virtual environment, used without the source tree."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from ring_server import RingServer

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys, numpy, echoline
assert "site-packages" in echoline.__file__, echoline.__file__
loader = echoline.Loader("train", runtime_dir=sys.argv[1])
print(sum(int(batch["label"].sum()) for batch in loader), echoline.__version__)
"""


def run(*command, **settings):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Wheel(unittest.TestCase):
    def test_it_is_built_installed_and_used(self):
        clean = {key: value for key, value in os.environ.items() if key not in ("ECHOLINE_LIBRARY", "PYTHONPATH")}
        try:
            run(sys.executable, "-c", "import setuptools, wheel, pip, venv", env=clean)
        except AssertionError as error:
            self.skipTest(str(error).splitlines()[-1])
        with tempfile.TemporaryDirectory() as name, RingServer() as server:
            folder = pathlib.Path(name)
            run(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation",
                "--no-deps", SOURCE / "client" / "python", "--wheel-dir", folder / "dist", cwd=folder, env=clean)
            wheels = list((folder / "dist").glob("*.whl"))
            self.assertEqual(len(wheels), 1)
            self.assertRegex(wheels[0].name, r"^echoline-\d+\.\d+\.\d+-cp39-abi3-linux_")
            run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv", env=clean)
            run(folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
                "--no-index", wheels[0], env=clean)
            said = run(folder / "venv/bin/python", "-c", PROGRAM, server.dir, cwd=folder, env=clean)
            self.assertRegex(said, r"^780 \d+\.\d+\.\d+$")
        left = [path for path in (SOURCE / "client" / "python").iterdir()
                if path.name not in ("CMakeLists.txt", "native", "pyproject.toml", "setup.py", "echoline")]
        self.assertEqual(left, [], "a build leaves nothing in the tree")


if __name__ == "__main__":
    unittest.main(verbosity=1)
