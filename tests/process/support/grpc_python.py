"""Import this first in a test that speaks gRPC. If this Python lacks the modules, the test starts again in the Python of
tests/requirements.txt. Exit code 77 (ctest: skipped) where that does not exist."""
import os
import pathlib
import subprocess
import sys

from support import TESTS
from support.programs import skip

MODULES = "import grpc, grpc_health.v1.health_pb2, grpc_reflection.v1alpha.proto_reflection_descriptor_database"


def pythons():
    folders = [TESTS.parent / "build/venv/bin"]
    if os.environ.get("ECHOLINE_WEED"):
        folders.insert(0, pathlib.Path(os.environ["ECHOLINE_WEED"]).parent)
    return [folder / "python" for folder in folders if os.access(folder / "python", os.X_OK)]


def import_or_restart():
    try:
        exec(MODULES, {})
        return
    except ImportError:
        pass
    for python in pythons():
        if subprocess.run([python, "-c", MODULES], capture_output=True, check=False).returncode == 0:
            os.execv(python, [str(python), "-B", *sys.argv])
    skip("no Python has grpcio, grpcio-health-checking and grpcio-reflection: pip install -r tests/requirements.txt")


import_or_restart()
