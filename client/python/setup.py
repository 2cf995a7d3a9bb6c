"""Builds the wheel: CMake builds the compiled module and the programs echolined and echoline, setuptools packs them with
the Python files.

The module uses CPython's stable ABI: one wheel works with every CPython from 3.9 on, except the free-threaded builds,
which have no stable ABI. The programs need the libraries of this system; deploy/wheel.sh makes a wheel that contains
them. Environment:
  ECHOLINE_BUILD=FOLDER   takes module and programs from a build of the repository
  ECHOLINE_LIBRARY=FILE   takes this module, and leaves the programs out: for systems that have them already
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
from setuptools.command.sdist import sdist
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = "_echoline.abi3.so"
PROGRAMS = ("echolined", "echoline")
BINARIES = (*PROGRAMS, "echoline-plugin-runner")
LIBRARY = os.environ.get("ECHOLINE_LIBRARY")
NEEDS_REPOSITORY = ("the package is built from the whole repository: run pip on its folder client/python, or install a "
                    "wheel (deploy/wheel.sh makes one)")


def version():
    try:
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        return re.search(r"project\(echoline VERSION (\d+\.\d+\.\d+)", text).group(1)
    except (OSError, AttributeError):
        sys.exit(f"{ROOT} is not the repository of Echoline; {NEEDS_REPOSITORY}")


def build_all(build):
    """Configures CMake in the folder `build` and builds module and programs."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    try:
        subprocess.check_call(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
                               "-DECHOLINE_TESTS=OFF", "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_UNITY_BUILD=ON",
                               f"-DPython3_EXECUTABLE={sys.executable}"])
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"CMake: {error}; deploy/install-packages.sh build installs what the build needs")
    subprocess.check_call(["cmake", "--build", build, "--parallel", "--target", "echoline_python", *BINARIES])


class BuildWithPrograms(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "echoline"
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(os.environ.get("ECHOLINE_BUILD") or folder)
            if not LIBRARY and not os.environ.get("ECHOLINE_BUILD"):
                build_all(build)
            self.install(LIBRARY or build / "client" / "python" / MODULE, package / MODULE)
            for program in () if LIBRARY else BINARIES:
                self.install(build / "daemon" / program, package / "bin" / program)

    @staticmethod
    def install(source, target):
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(pathlib.Path(source).resolve(), target)
        target.chmod(0o755)
        subprocess.check_call(["strip", "--strip-unneeded", target])


class NoSourceDistribution(sdist):
    def run(self):
        sys.exit(f"there is no source distribution: {NEEDS_REPOSITORY}")


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
      scripts=[] if LIBRARY else [f"scripts/{program}" for program in PROGRAMS],
      cmdclass={"build_py": BuildWithPrograms, "bdist_wheel": PlatformWheel, "sdist": NoSourceDistribution})
