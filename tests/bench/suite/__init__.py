"""What the benchmarks share. Importing it makes `support` of the process tests importable too."""
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
ROOT = BENCH.parents[1]
sys.path += [str(BENCH.parent / "process"), str(BENCH)]
