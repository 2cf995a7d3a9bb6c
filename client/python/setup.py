"""Builds the wheel: CMake builds the compiled module and the programs echolined and echoline, setuptools packs them with
the Python files. A source distribution has what CMake needs of the repository in the folder `repository`.

The module uses CPython's stable ABI: one wheel works with every CPython from 3.9 on, except the free-threaded builds,
which have no stable ABI. The programs need the libraries of this system; deploy/wheel.sh makes a wheel that contains
them. Environment:
  ECHOLINE_BUILD=FOLDER   takes module and programs from a build of the repository
  ECHOLINE_LIBRARY=FILE   takes this module, and leaves the programs out: for systems that have them already
  STRIP=PROGRAM           removes the symbols of files for another processor
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

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = "repository"
ROOT = HERE / INSIDE if (HERE / INSIDE).is_dir() else HERE.parents[1]
SOURCES = ("CMakeLists.txt", "LICENSE", "client", "daemon", "deploy", "proto")
MODULE = "_echoline.abi3.so"
PROGRAMS = ("echolined", "echoline")
BINARIES = (*PROGRAMS, "echoline-plugin-runner")
LIBRARY = os.environ.get("ECHOLINE_LIBRARY")


def version():
    try:
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        return re.search(r"project\(echoline VERSION (\d+\.\d+\.\d+)", text).group(1)
    except (OSError, AttributeError):
        sys.exit(f"{ROOT} is not the repository of Echoline: run pip on its folder client/python, or on a source distribution")


def build_all(build):
    """Configures CMake in the folder `build` and builds module and programs."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    try:
        subprocess.check_call(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
                               "-DECHOLINE_TESTS=OFF", "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_UNITY_BUILD=ON",
                               f"-DPython3_EXECUTABLE={sys.executable}"])
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"CMake: {error}; deploy/install-packages.sh build installs what the build needs")
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(len(os.sched_getaffinity(0))))
    subprocess.check_call(["cmake", "--build", build, "--parallel", jobs, "--target", "echoline_python", *BINARIES])


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
        subprocess.check_call([os.environ.get("STRIP", "strip"), "--strip-unneeded", target])


class WithRepository(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in SOURCES:
            source, target = ROOT / name, pathlib.Path(base_dir, INSIDE, name)
            if source.is_dir():
                shutil.copytree(source, target, ignore=self.left_out)
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(source, target)

    @staticmethod
    def left_out(folder, names):
        """What CMake does not need."""
        if pathlib.Path(folder) == ROOT / "client/python":
            return set(names) - {"CMakeLists.txt", "native"}
        return {"__pycache__"}


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
      version=version(), license="Apache-2.0", distclass=BinaryDistribution,
      scripts=[] if LIBRARY else [f"scripts/{program}" for program in PROGRAMS],
      cmdclass={"build_py": BuildWithPrograms, "bdist_wheel": PlatformWheel, "sdist": WithRepository})
