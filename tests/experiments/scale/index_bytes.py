#!/usr/bin/env python3
"""Publishes the index of a tar of 100,000 records with keys of nine characters and prints its bytes for each record.

    ECHOLINE_CLI=... index_bytes.py"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "process"))

from support.programs import run_index  # noqa: E402
from support.tars import write_tar  # noqa: E402

RECORDS = 100_000


def main():
    with tempfile.TemporaryDirectory() as folder:
        shard = pathlib.Path(folder, "records-000.tar")
        write_tar(shard, [(f"{record:09d}.{key}", b"x") for record in range(RECORDS) for key in ("jpg", "cls")])
        for option in ([], ["--checksums"]):
            done = run_index(f"{folder}/records-*.tar", "--publish", *option)
            if done.returncode != 0:
                sys.exit(done.stderr)
            size = shard.with_name(shard.name + ".echoline-index").stat().st_size
            print(f"{' '.join(option) or 'without checksums'}: {size / RECORDS:.2f} bytes for each record")


if __name__ == "__main__":
    main()
