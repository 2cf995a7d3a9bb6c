#!/usr/bin/env python3
"""Tars of 100 MB from a real S3 server on this machine, by the daemon, by WebDataset's pipes from curl, and by SPDL with
boto3, in turn; each peer with its fastest width. Prints figures and judges nothing.

    python3 -m venv peers && peers/bin/pip install webdataset spdl boto3
    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_WEED=... peers.py --python peers/bin/python

All count bytes of records. The daemon also copies each into a batch in shared memory and shuffles."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from support.daemon_process import Daemon  # noqa: E402
from support.programs import free_port  # noqa: E402
from support.server_process import Server  # noqa: E402
from transfers import BUCKET, echoline, put_tars, stream_of  # noqa: E402

LOOPS = pathlib.Path(__file__).with_name("peer_loops.py")
SIGN = """import sys, boto3
client = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1")
for key in sys.argv[3:]: print(client.generate_presigned_url("get_object", Params={"Bucket": sys.argv[2], "Key": key}))"""


def timed(command, environment):
    """(MB/s, CPU-seconds per GB) of a peer's loop."""
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, env=environment, check=True)
    seconds, after = time.perf_counter() - begin, os.times()
    size = json.loads(done.stdout.splitlines()[-1])["bytes"]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return size / seconds / 1e6, cpu / size * 1e9


def fastest(name, commands, environment):
    """The command of the width that is fastest in one try."""
    tries = {width: timed(command, environment)[0] for width, command in commands.items()}
    print(f"{name}: " + ", ".join(f"{width}: {rate:.0f} MB/s" for width, rate in tries.items()), flush=True)
    return commands[max(tries, key=tries.get)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="with webdataset, spdl and boto3")
    parser.add_argument("--tars", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--window", type=int, default=1000, help="of the daemon's shuffle")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server("s3_server.py", "--dir", pathlib.Path(folder, "s3"), "--bucket", BUCKET)
        try:
            run(options, server)
        finally:
            server.stop()


def run(options, server):
    data, endpoint = put_tars(server, options.tars, 100), server.facts["endpoint"]
    environment = os.environ | {"AWS_ACCESS_KEY_ID": server.facts["access_key"],
                                "AWS_SECRET_ACCESS_KEY": server.facts["secret_key"]}
    python = options.python
    signed = subprocess.run([python, "-c", SIGN, endpoint, BUCKET, *data.keys], stdout=subprocess.PIPE, text=True,
                            env=environment, check=True).stdout.split()
    peers = {
        "WebDataset": fastest("WebDataset, by processes", {
            width: [python, LOOPS, "webdataset", width, *signed] for width in (1, 2, 4)}, environment),
        "SPDL": fastest("SPDL, by threads", {
            width: [python, LOOPS, "spdl", width, endpoint, BUCKET, *data.keys] for width in (2, 4, 8)}, environment)}
    with Daemon(stream_of(endpoint, data, options, ""), memory="2GiB", environment=environment,
                metrics=free_port()) as daemon:
        rounds = []
        for _ in range(options.rounds):
            found = {"Echoline": echoline(daemon, 4)} | {
                name: timed(command, environment) for name, command in peers.items()}
            rounds.append(found)
            print("  " + "   ".join(f"{name} {rate:.0f} MB/s {cpu:.2f} CPU-s/GB"
                                    for name, (rate, cpu) in found.items()), flush=True)
    for name in peers:
        ratios = [found["Echoline"][0] / found[name][0] for found in rounds]
        cpu = statistics.median(found[name][1] for found in rounds)
        print(f"Echoline against {name}: {statistics.median(ratios):.2f} times the rate ({min(ratios):.2f} to "
              f"{max(ratios):.2f}); CPU-s/GB {statistics.median(found['Echoline'][1] for found in rounds):.2f} "
              f"against {cpu:.2f}", flush=True)


if __name__ == "__main__":
    main()
