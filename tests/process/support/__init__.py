"""What the process tests share. Importing it makes the modules of the neighbouring test folders importable too."""
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(TESTS / folder) for folder in ("servers", "record", "augment", "python", "bench")]
