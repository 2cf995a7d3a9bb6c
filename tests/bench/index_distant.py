#!/usr/bin/env python3
"""From an address to the first batch: tars of photos, never indexed, on a web server behind a proxy that adds latency, at a
rate in all that the daemon imitates. Then the same, killed at half of the index pass and started again. Prints figures and
judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... index_distant.py --shaper build/release/tests/bench/shaper [--shards N] [--records N]

With --ways build/release/tests/bench/index_ways, it instead compares the index pass with one by hops only and one by
reading through only: --rounds times in turn, reading through only once, because the rate determines its time.

The tars are sparse files, so they need no disk. Reading through takes at least bytes / rate. Hops take at least
records of a shard * latency * (shards / 128, rounded up)."""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.programs import end_with_parent, wait_until  # noqa: E402
from support.server_process import Server  # noqa: E402

RECORD_BYTES = 110_000
HOPS_AT_ONCE = 128


def write_sparse_tar(path, shard, records):
    with open(path, "wb") as file:
        for record in range(records):
            member = tarfile.TarInfo(f"{shard:04d}-{record:06d}.jpg")
            member.size = RECORD_BYTES
            file.write(member.tobuf(tarfile.USTAR_FORMAT))
            file.seek(-(-RECORD_BYTES // 512) * 512, os.SEEK_CUR)
        file.write(bytes(1024))
    return path.stat().st_size


def started(options, url):
    read = (f"read: {{url: '{url}', checksums: {options.checksums}, "
            f"throttle: {{rate: {options.megabytes * 1_000_000 >> 10}KiB/s}}}}")
    return Daemon(stream_yaml([read, "decode: {x: {key: jpg, as: bytes, max_bytes: 200000}}", "batch: {size: 64}"]),
                  metrics=True)


def indexed(daemon):
    """The share of the bytes that is done; 0 while the daemon does not answer."""
    answer = daemon.command("list", "--json")
    indexing = json.loads(answer.stdout)[0].get("indexing") if answer.returncode == 0 else None
    return indexing["bytes_done"] / indexing["bytes"] if indexing else 0


def run(options, url, kill):
    daemon = started(options, url)
    try:
        begin = time.monotonic()
        daemon.spawn()
        if kill:
            wait_until(lambda: indexed(daemon) >= 0.5, daemon.log)
            daemon.stop(signal.SIGKILL)
            middle = time.monotonic()
            (daemon.runtime_dir / "door.sock").unlink()
            daemon.spawn()
        wait_until((daemon.runtime_dir / "door.sock").exists, daemon.log)
        reader = daemon.reader("--batches", 1)
        if b"epoch" not in reader.stdout.readline():
            raise RuntimeError(daemon.log())
        end = time.monotonic()
        reader.kill()
        bytes_read = daemon.total("echoline_source_bytes_total")
        for line in re.findall(r"indexing by .*", daemon.log()):
            print(f"    {line}")
        if kill:
            print(f"killed after {middle - begin:.1f} s, then {end - middle:.1f} s and {bytes_read / 1e6:.0f} MB")
        else:
            print(f"first batch after {end - begin:.1f} s, {bytes_read / 1e6:.0f} MB read")
    finally:
        daemon.stop(signal.SIGKILL)
        daemon.close()


def pass_seconds(options, url, way):
    done = subprocess.run([options.ways, url, way, str(options.megabytes), options.checksums], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=True)
    for line in re.findall(r"indexing by .*", done.stderr):
        print(f"    {line}")
    return float(done.stdout)


def compare_ways(options, url):
    """The time of the daemon's way, relative to the better one of the two others."""
    reading = pass_seconds(options, url, "reading")
    print(f"reading {reading:.1f} s", flush=True)
    for _ in range(options.rounds):
        hops, choice = (pass_seconds(options, url, way) for way in ("hops", "choice"))
        print(f"hops {hops:.1f} s, choice {choice:.1f} s: {choice / min(hops, reading):.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shaper", required=True)
    parser.add_argument("--shards", type=int, default=600)
    parser.add_argument("--records", type=int, default=200, help="of each shard")
    parser.add_argument("--latency", type=int, default=30, help="milliseconds")
    parser.add_argument("--megabytes", type=int, default=100, help="per second, in all")
    parser.add_argument("--checksums", default="all")
    parser.add_argument("--ways", help="the program index_ways")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    server = Server("web_server.py")
    try:
        root = pathlib.Path(server.facts["root"])
        total = sum(write_sparse_tar(root / f"{shard:04d}.tar", shard, options.records)
                    for shard in range(options.shards))
        address = urllib.parse.urlsplit(server.facts["endpoint"])
        with subprocess.Popen([options.shaper, address.hostname, str(address.port), str(options.latency), "0"],
                              stdout=subprocess.PIPE, preexec_fn=end_with_parent) as shaper:
            port = int(shaper.stdout.readline())
            url = f"http://127.0.0.1:{port}/{{0000..{options.shards - 1:04d}}}.tar"
            hops = -(-options.shards // HOPS_AT_ONCE) * options.records * options.latency / 1000
            print(f"{total / 1e9:.1f} GB: reading at least {total / 1e6 / options.megabytes:.1f} s, hops {hops:.1f} s")
            try:
                if options.ways:
                    compare_ways(options, url)
                for kill in () if options.ways else (False, True):
                    run(options, url, kill)
            finally:
                shaper.kill()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
