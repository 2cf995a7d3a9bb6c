"""Builds the wheel: CMake builds the compiled module (not the daemon), and setuptools packs it with the Python files.

The module uses CPython's stable ABI: one wheel works with every CPython from 3.9 on, except the free-threaded builds,
which have no stable ABI. ECHOLINE_LIBRARY=FILE takes a module that is already built.
"""
import atexit
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = "_echoline.abi3.so"


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(echoline VERSION (\d+\.\d+\.\d+)", text).group(1)


def build_module(build):
    """Configures CMake in the folder `build` and builds only the module."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.check_call(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
                           "-DECHOLINE_DAEMON=OFF", "-DECHOLINE_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON",
                           f"-DPython3_EXECUTABLE={sys.executable}"])
    subprocess.check_call(["cmake", "--build", build, "--target", "echoline_python", "--parallel"])
    return pathlib.Path(build) / "client" / "python" / MODULE


class BuildWithModule(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "echoline" / MODULE
        with tempfile.TemporaryDirectory() as build:
            module = os.environ.get("ECHOLINE_LIBRARY") or build_module(build)
            shutil.copyfile(pathlib.Path(module).resolve(), target)
        target.chmod(0o755)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "cp39", "abi3", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


# Keeps build files out of the source tree.
scratch = tempfile.mkdtemp(prefix="echoline-wheel-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)

setup(options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
      version=version(), distclass=BinaryDistribution,
      cmdclass={"build_py": BuildWithModule, "bdist_wheel": PlatformWheel})
