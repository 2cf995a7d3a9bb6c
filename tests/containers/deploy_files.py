"""The files of deploy/, and the modules that check them. Exit code 77 (ctest: skipped) where a module is missing."""
import importlib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"skipped: no Python module {name}: pip install -r tests/requirements.txt")
        sys.exit(77)


def version():
    return re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def check_stream_file(path):
    """The output of `echoline check --offline`; AssertionError if it finds a mistake."""
    done = subprocess.run([os.environ["ECHOLINE_CLI"], "check", "--offline", str(path)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout
