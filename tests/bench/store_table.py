#!/usr/bin/env python3
"""Tars of 100 MB from a real S3 server, near and behind a proxy that makes it slower in several ways: the first epoch of a
new daemon, later epochs, WebDataset and SPDL with boto3 (each with its fastest width), and `curl -Z` as the machine's limit,
in turn. Prints one table and judges nothing.

    python3 -m venv peers && peers/bin/pip install webdataset spdl boto3
    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_WEED=... store_table.py --python peers/bin/python \\
        --shaper build/release/tests/bench/shaper

The index exists already, as after the first start. The server, the proxy and all loaders use the same processors."""
import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import tempfile

from peers import LOOPS, SIGN, fastest, timed
from transfers import BUCKET, Shaped, curl, echoline, put_tars, stream_of
from support.daemon_process import Daemon
from support.programs import free_port
from support.server_process import Server

# name: (window of the daemon's shuffle, latency in ms, bytes/s of a connection, more for the proxy); None: no proxy
ROWS = {
    "near, in order": (1, None, 0, []),
    "near, window 1,000": (1000, None, 0, []),
    "30 ms, 90 MB/s a connection": (1, 30, 90e6, []),
    "150 ms": (1, 150, 0, []),
    "30 ms, 1 % of answers after 2 s": (1, 30, 0, ["0.01:2000"]),
    "30 ms, 150 MB/s in all": (1, 30, 0, ["all:150e6"]),
}


class Row:
    """One store, with the ways to read from it."""

    def __init__(self, stack, name, server, data, options):
        self.window, latency, rate, more = ROWS[name]
        self.name, self.data, self.options, self.facts = name, data, options, server.facts
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.endpoint = server.facts["endpoint"]
        if latency is not None:
            shaped = Shaped(options.shaper, server.facts["port"], latency, rate, more)
            stack.callback(shaped.close)
            self.endpoint = shaped.endpoint
        self.environment = {"AWS_ACCESS_KEY_ID": server.facts["access_key"],
                            "AWS_SECRET_ACCESS_KEY": server.facts["secret_key"]}

    def daemon(self):
        """[(MB/s, CPU-s/GB)] of the first epoch of a new daemon, and of later ones."""
        with contextlib.suppress(FileNotFoundError):
            pathlib.Path(self.folder, "run", "trainers.json").unlink()
        self.options.window = self.window
        stream = stream_of(self.endpoint, self.data, self.options, "")
        with Daemon(stream, memory="2GiB", environment=self.environment, metrics=free_port(),
                    folder=pathlib.Path(self.folder)) as daemon:
            return [echoline(daemon, 1), echoline(daemon, self.options.epochs)]

    def peers(self):
        """{name: command} of the others, each with its fastest width."""
        environment = os.environ | self.environment
        python = self.options.python
        signed = subprocess.run([python, "-c", SIGN, self.endpoint, BUCKET, *self.data.keys], stdout=subprocess.PIPE,
                                text=True, env=environment, check=True).stdout.split()
        return {
            "WebDataset": fastest(f"{self.name}: WebDataset, by processes", {
                width: [python, LOOPS, "webdataset", width, *signed] for width in (1, 2, 4)}, environment),
            "SPDL": fastest(f"{self.name}: SPDL, by threads", {
                width: [python, LOOPS, "spdl", width, self.endpoint, BUCKET, *self.data.keys] for width in (2, 4, 8)},
                environment)}

    def measure(self):
        """The row of the table."""
        peers = self.peers()
        self.daemon()  # makes the index, and finds the number of requests, as an earlier run would
        rounds = []
        for _ in range(self.options.rounds):
            first, later = self.daemon()
            found = {name: timed(command, os.environ | self.environment) for name, command in peers.items()}
            limit = max(curl(self.endpoint, self.facts, self.data, parallel, self.folder) for parallel in (4, 16))
            rounds.append((first, later, found, limit))
        best = max(peers, key=lambda name: statistics.median(found[name][0] for _, _, found, _ in rounds))
        firsts, laters, others, limits = ([entry[0] for entry in rounds], [entry[1] for entry in rounds],
                                          [entry[2][best] for entry in rounds], [entry[3] for entry in rounds])

        def median(values, which):
            return statistics.median(value[which] for value in values)

        def ratio(mine):
            each = [own[0] / other[0] for own, other in zip(mine, others)]
            return f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})"

        return (f"| {self.name} | {median(firsts, 0):.0f} | {median(laters, 0):.0f} | {median(others, 0):.0f} ({best}) | "
                f"{ratio(firsts)} | {ratio(laters)} | {median(firsts, 1):.2f} | {median(laters, 1):.2f} | "
                f"{median(others, 1):.2f} | {median(limits, 0):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="with webdataset, spdl and boto3")
    parser.add_argument("--shaper", required=True, help="the program of the proxy")
    parser.add_argument("--tars", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3, help="how many later epochs")
    parser.add_argument("--row", action="append", choices=list(ROWS), help="only this one; may be repeated")
    options = parser.parse_args()
    lines = []
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = Server("s3_server.py", "--dir", pathlib.Path(folder, "s3"), "--bucket", BUCKET)
        stack.callback(server.stop)
        data = put_tars(server, options.tars, 100)
        for name in options.row or ROWS:
            with contextlib.ExitStack() as row:
                lines.append(Row(row, name, server, data, options).measure())
            print(lines[-1], flush=True)
    print(f"\n{data.name}, {options.rounds} rounds, load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores\n")
    print("| store | first epoch, MB/s | later epochs | best other | first / other | later / other | CPU-s/GB, first | "
          "later | other | curl -Z, MB/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
