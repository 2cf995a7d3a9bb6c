#!/usr/bin/env python3
"""The first epoch of a new daemon over tars of 100 MB in a real S3 server, and the epoch after it, for two builds of the
daemon in turn. The index exists already. Prints figures and judges nothing.

    ECHOLINE_CLI=... ECHOLINE_WEED=... first_epoch.py --daemon old/echolined --daemon build/release/daemon/echolined \\
        --shaper build/release/tests/bench/shaper --latency 30 --rate 90e6

Without --latency and --rate the server is read directly. With --singles, the data are objects of 100 KB."""
import argparse
import contextlib
import os
import pathlib
import statistics
import tempfile

from transfers import BUCKET, Shaped, one_run, put_singles, put_tars, stream_of
from support.daemon_process import Daemon
from support.programs import free_port
from support.server_process import Server


def run_daemon(program, stream, environment, folder):
    """[(MB/s, CPU-s/GB)] of the first and of the second epoch of a new daemon. `folder` keeps the index."""
    os.environ["ECHOLINED"] = program
    with contextlib.suppress(FileNotFoundError):
        pathlib.Path(folder, "run", "trainers.json").unlink()
    with Daemon(stream, memory="2GiB", environment=environment, metrics=free_port(), folder=folder) as daemon:
        return one_run(daemon, 1, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daemon", action="append", required=True, help="a build of echolined; several in turn")
    parser.add_argument("--shaper", help="the program of the proxy")
    parser.add_argument("--latency", type=float, default=0, help="ms before the first byte of an answer")
    parser.add_argument("--rate", type=float, default=0, help="bytes/s of a connection")
    parser.add_argument("--tail", action="append", default=[], metavar="SHARE:MS", help="as of transfers.py")
    parser.add_argument("--tars", type=int, default=7)
    parser.add_argument("--singles", type=int, default=0, help="read this number of small objects instead")
    parser.add_argument("--window", type=int, default=1, help="of the shuffle, in records; 1: in order")
    parser.add_argument("--read", default="", help="more of the read step, as \"concurrency: 64\"")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = Server("s3_server.py", "--dir", pathlib.Path(folder, "s3"), "--bucket", BUCKET)
        stack.callback(server.stop)
        data = put_singles(server, options.singles, 100_000) if options.singles else put_tars(server, options.tars, 100)
        endpoint = server.facts["endpoint"]
        if options.shaper:
            shaped = Shaped(options.shaper, server.facts["port"], options.latency, options.rate, options.tail)
            stack.callback(shaped.close)
            endpoint = shaped.endpoint
        stream = stream_of(endpoint, data, options, options.read)
        environment = {"AWS_ACCESS_KEY_ID": server.facts["access_key"],
                       "AWS_SECRET_ACCESS_KEY": server.facts["secret_key"]}
        folders = [pathlib.Path(folder, str(place)) for place in range(len(options.daemon))]
        for program, path in zip(options.daemon, folders):
            path.mkdir()
            run_daemon(program, stream, environment, path)  # makes the index
        rounds = []
        for _ in range(options.rounds):
            rounds.append([run_daemon(program, stream, environment, path)
                           for program, path in zip(options.daemon, folders)])
            print("  " + "   ".join(f"first {first[0]:.0f} MB/s {first[1]:.2f} CPU-s/GB, then {then[0]:.0f} {then[1]:.2f}"
                                    for first, then in rounds[-1]), flush=True)
    for place, program in enumerate(options.daemon):
        medians = [statistics.median(found[place][epoch][which] for found in rounds)
                   for epoch in (0, 1) for which in (0, 1)]
        print(f"{program}: first {medians[0]:.0f} MB/s, {medians[1]:.2f} CPU-s/GB; then {medians[2]:.0f} MB/s, "
              f"{medians[3]:.2f} CPU-s/GB", flush=True)


if __name__ == "__main__":
    main()
