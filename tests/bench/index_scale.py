#!/usr/bin/env python3
"""Time and memory of the index of many records, which `echoline index` builds and loads again. Prints a Markdown table and
judges nothing.

    ECHOLINE_CLI=... index_scale.py [--records N] [--folder FOLDER] [--formats webdataset,tfrecord,...] [--checksums]

"files" is a list of the paths of "folder". Times are those of whole processes, including the listing, with the shards in
the page cache. The first index of packed shards reads them completely."""
import argparse
import gzip
import json
import multiprocessing
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.programs import binary  # noqa: E402

import shard_writers  # noqa: E402  of tests/record

SHARDS = 100
SETTLED_SECONDS = 3  # the daemon does not keep the listing of a folder that has just changed


def tar_member(name, data):
    header = bytearray(512)
    header[:len(name)] = name
    header[100:108] = b"0000644\0"
    header[124:136] = b"%011o\0" % len(data)
    header[148:156] = b" " * 8
    header[156] = ord("0")
    header[257:265] = b"ustar\00000"
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data + bytes(-len(data) % 512)


def write_tars(folder, records, pack=None):
    for shard in range(SHARDS):
        content = b"".join(tar_member(b"n%04d/%08d.jpg" % (shard, record), b"x" * 100)
                           for record in range(records // SHARDS)) + bytes(1024)
        name = f"{shard:04d}.tar" + (".gz" if pack else "")
        (folder / name).write_bytes(pack(content) if pack else content)


def write_tfrecords(folder, records):
    frame = shard_writers.frame(shard_writers.example({"x": b"x" * 20, "label": 1}))
    for shard in range(SHARDS):
        (folder / f"{shard:04d}.tfrecord").write_bytes(frame * (records // SHARDS))


def write_mds(folder, records):
    shard_writers.write_mds(folder, {"x": "int"}, [{"x": struct.pack("<q", i)} for i in range(records)],
                            records // SHARDS)


def write_files(folder, records):
    for number in range(records):
        if number % 1000 == 0:
            (folder / f"class{number // 1000:04d}").mkdir()
        os.close(os.open(folder / f"class{number // 1000:04d}/{number:08d}.jpg", os.O_CREAT | os.O_WRONLY))


def write_list(folder, records):
    write_files(folder, records)
    lines = (f"class{number // 1000:04d}/{number:08d}.jpg,{number // 1000}\n" for number in range(records))
    (folder / "list.csv").write_text("".join(lines), encoding="utf-8")


FORMATS = {
    "webdataset": (write_tars, "*.tar"),
    "packed": (lambda folder, records: write_tars(folder, records, lambda data: gzip.compress(data, 1)), "*.tar.gz"),
    "tfrecord": (write_tfrecords, "*.tfrecord"),
    "mds": (write_mds, ""),
    "folder": (write_files, ""),
    "files": (write_list, "list.csv"),
}


def index(address, state, *more):
    """(seconds, peak MB, what was printed) of one `echoline index`."""
    start = time.monotonic()
    process = subprocess.Popen([binary("ECHOLINE_CLI"), "index", address, "--json", "--state-dir", state, *more],
                               stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"echoline index ended with {process.returncode}")
    return time.monotonic() - start, usage.ru_maxrss / 1024, json.loads(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--folder", default=None, help="where to make the data; removed at the end")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--checksums", action="store_true", help="build with a checksum of every record")
    options = parser.parse_args()
    print("| format | records | shards | built in | memory | loaded in | memory |\n|---|---|---|---|---|---|---|")
    for name in options.formats.split(","):
        write, pattern = FORMATS[name]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            data = pathlib.Path(folder, "data")
            data.mkdir()
            # In another process: the peak memory of a child starts at the size of its parent.
            writer = multiprocessing.Process(target=write, args=(data, options.records))
            writer.start()
            writer.join()
            if writer.exitcode != 0:
                sys.exit(f"the data of {name} could not be made")
            time.sleep(SETTLED_SECONDS)
            address = f"{data}/{pattern}"
            more = ["--format", name] if name == "files" else []  # the first bytes do not show this format
            checked = ["--checksums"] if options.checksums else []
            built, built_mb, facts = index(address, f"{folder}/state", *more, *checked)
            loaded, loaded_mb, _ = index(address, f"{folder}/state", *more)
        print(f"| {name} | {facts['records']:,} | {facts['shards']:,} | {built:.2f} s | {built_mb:.0f} MB "
              f"| {loaded:.2f} s | {loaded_mb:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
