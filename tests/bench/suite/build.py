"""Finds the programs of a build folder, builds those that are missing, and names them as the tests' modules expect it."""
import os
import pathlib
import subprocess
import sys

from . import ROOT

DEFAULT = ROOT / "build/bench"
# The variable of each program: its target, and its file in the build folder.
PROGRAMS = {
    "ECHOLINED": ("echolined", "daemon/echolined"),
    "ECHOLINE_CLI": ("echoline", "daemon/echoline"),
    "ECHOLINE_LIBRARY": ("echoline_python", "client/python/_echoline.abi3.so"),
    "ECHOLINE_RING_SERVER": ("ring_server", "tests/client/ring_server"),
    "HANDOFF_TRAINER": ("handoff_trainer", "tests/bench/handoff_trainer"),
    "PLAN_BENCH": ("plan_bench", "tests/bench/plan_bench"),
    "SHAPER": ("shaper", "tests/bench/shaper"),
    "TRAIN_FASHION_MNIST": ("train_fashion_mnist", "client/examples/train_fashion_mnist"),
    "WIRE_BENCH": ("wire_bench", "tests/bench/wire_bench"),
}


def prepare(folder, variables):
    """Sets these variables, and those that every benchmark needs. Builds what the default folder lacks; in another folder,
    a missing program is an error."""
    wanted = ["ECHOLINED", "ECHOLINE_CLI", *variables]
    missing = [variable for variable in wanted if not (folder / PROGRAMS[variable][1]).exists()]
    if missing and folder == DEFAULT:
        build([PROGRAMS[variable][0] for variable in missing])
    elif missing:
        sys.exit(f"run.sh: {folder} lacks {', '.join(PROGRAMS[variable][1] for variable in missing)}")
    for variable in wanted:
        os.environ[variable] = str(folder / PROGRAMS[variable][1])
    sys.path.append(str(ROOT / "client/python"))
    os.environ["PYTHONPATH"] = str(ROOT / "client/python")
    os.environ.setdefault("ECHOLINE_WEED", str(ROOT / "build/venv/bin/weed"))


def build(targets):
    print(f"building {', '.join(targets)} in {DEFAULT}", file=sys.stderr, flush=True)
    for command in (["cmake", "--preset", "bench"], ["cmake", "--build", "--preset", "bench", "--target", *targets]):
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


def without_account():
    """A daemon that keeps no account of time."""
    folder = ROOT / "build/no-account"
    print(f"building echolined in {folder}", file=sys.stderr, flush=True)
    for command in (["cmake", "--preset", "quickstart", "-B", folder, "-DECHOLINE_ACCOUNT=OFF"],
                    ["cmake", "--build", folder, "--target", "echolined"]):
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return folder / "daemon/echolined"


def photos_folder():
    """Real photos, where there are some: the tests' data, or the folder of shared data that this tree may lie next to."""
    data = pathlib.Path(os.environ.get("ECHOLINE_TEST_DATA", ROOT.parent / "shared/data"))
    if data.is_dir():
        os.environ["ECHOLINE_TEST_DATA"] = str(data)
