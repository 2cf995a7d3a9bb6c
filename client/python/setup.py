"""Builds the wheel: the client library by CMake (nothing of the daemon), and the package around it.

The library is loaded by ctypes, so one wheel serves every Python 3. ECHOLINE_LIBRARY=FILE takes a library that is
built already.
"""
import atexit
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(echoline VERSION (\d+\.\d+\.\d+)", text).group(1)


def build_library(build):
    """Configures and builds the one target in the folder `build`."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.check_call(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
                           "-DECHOLINE_DAEMON=OFF", "-DECHOLINE_TESTS=OFF"])
    subprocess.check_call(["cmake", "--build", build, "--target", "echoline_client", "--parallel"])
    return pathlib.Path(build) / "client" / "libecholine.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "echoline" / "libecholine.so"
        with tempfile.TemporaryDirectory() as build:
            library = os.environ.get("ECHOLINE_LIBRARY") or build_library(build)
            shutil.copyfile(pathlib.Path(library).resolve(), target)
        target.chmod(0o755)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


# Builds leave nothing in the tree.
scratch = tempfile.mkdtemp(prefix="echoline-wheel-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)

setup(options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
      version=version(), distclass=BinaryDistribution,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
