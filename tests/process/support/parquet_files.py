"""Parquet files of photos as Hugging Face's `datasets` writes them, by pyarrow in the Python of tests/requirements.txt."""
import functools
import json
import os
import pathlib
import pickle
import subprocess

from support import TESTS

WRITER = """
import pickle, sys, pyarrow as pa, pyarrow.parquet as pq
path, rows, records = pickle.load(sys.stdin.buffer)
table = pa.table({"image": [{"bytes": content, "path": None} for content, _ in records],
                  "label": pa.array([label for _, label in records], pa.int64()),
                  "caption": [f"photo {number}" for number in range(len(records))]})
pq.write_table(table, path, row_group_size=rows)
"""


RECORDS_WRITER = """
import pickle, sys, pyarrow as pa, pyarrow.parquet as pq
rows, files = pickle.load(sys.stdin.buffer)
for path, records in files.items():
    labels = pa.array([label for _, label in records], pa.int64())
    pq.write_table(pa.table({"u8": [content for content, _ in records], "cls": labels}), path, row_group_size=rows)
"""

NUMBERS_WRITER = """
import pickle, sys, pyarrow as pa, pyarrow.parquet as pq
path, columns = pickle.load(sys.stdin.buffer)
pq.write_table(pa.table({name: pa.array(numbers, pa.int64()) for name, numbers in columns.items()}), path)
"""


@functools.cache
def python():
    """A Python with pyarrow; None if there is none."""
    folders = [TESTS.parent / "build/venv/bin"]
    if os.environ.get("ECHOLINE_WEED"):
        folders.insert(0, pathlib.Path(os.environ["ECHOLINE_WEED"]).parent)
    for folder in folders:
        program = folder / "python"
        if os.access(program, os.X_OK) and subprocess.run([program, "-c", "import pyarrow"], capture_output=True,
                                                          check=False).returncode == 0:
            return program
    return None


HUB_READER = """
import hashlib, json, sys, pyarrow.parquet as pq
from huggingface_hub import HfFileSystem
files = HfFileSystem()
found = sorted(files.glob(sys.argv[1]))
rows = [row for name in found for row in pq.read_table(files.open(name)).to_pylist()]
print(json.dumps({"files": found, "rows": [
    [hashlib.sha256(row["image"]["bytes"]).hexdigest(), row["label"], row["caption"]] for row in rows]}))
"""


def read_from_hub(pattern, environment):
    """What pyarrow reads through Hugging Face's own file system: {"files", "rows"} with rows as in `write`, a checksum in
    place of each photo. None without that library."""
    program = python()
    if not program or subprocess.run([program, "-c", "import huggingface_hub, fsspec"], capture_output=True,
                                     check=False).returncode != 0:
        return None
    done = subprocess.run([program, "-c", HUB_READER, pattern], env={**os.environ, **environment}, capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


def write(path, records, group_rows=7):
    """`records` are pairs of the bytes of a photo and its label."""
    content = pickle.dumps((str(path), group_rows, records))
    subprocess.run([python(), "-c", WRITER], input=content, check=True)


def write_records(files, group_rows=50):
    """{path: records}, which are pairs of bytes and a label, in plain columns."""
    content = pickle.dumps((group_rows, {str(path): records for path, records in files.items()}))
    subprocess.run([python(), "-c", RECORDS_WRITER], input=content, check=True)


def write_numbers(path, **columns):
    """A file of int64 columns."""
    subprocess.run([python(), "-c", NUMBERS_WRITER], input=pickle.dumps((str(path), columns)), check=True)
