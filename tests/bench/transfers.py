#!/usr/bin/env python3
"""Reads from a distant store: tars of 100 MB and single objects of 100 KB from a real S3 server behind a proxy that adds
latency and limits each connection, by the daemon and by the best of `curl -Z`, in turn. Prints figures and judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_WEED=... transfers.py --shaper build/release/tests/bench/shaper

The daemon does more than curl: it finds the records in the tars, copies each into a batch, and hands the batches to a
trainer. Its rate is of record bytes, curl's of whole objects."""
import argparse
import contextlib
import io
import json
import os
import pathlib
import statistics
import subprocess
import tarfile
import tempfile
import time

from suite.rounds import busy_share, children_cpu_seconds, cpu_seconds, family_cpu_seconds, processors
from support.daemon_process import Daemon, stream_yaml
from support.programs import binary, free_port
from support.server_process import Server

BUCKET = "bench"
RECORD = 110_000


def tar_of(records, size, seed):
    file = io.BytesIO()
    block = os.urandom(size + records)
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for place in range(records):
            info = tarfile.TarInfo(f"{seed:03d}-{place:06d}.bin")
            info.size = size
            tar.addfile(info, io.BytesIO(block[place:place + size]))
    return file.getvalue()


class Data:
    """One set of objects in the store: their names, and the stream that reads them."""

    def __init__(self, name, keys, url, form, record):
        self.name, self.keys, self.url, self.form, self.record = name, keys, url, form, record


def put_tars(server, count, megabytes):
    records = megabytes * 1_000_000 // (RECORD + 1024)
    keys = [f"tars/{place:03d}.tar" for place in range(count)]
    for place, key in enumerate(keys):
        server.put(BUCKET, key, tar_of(records, RECORD, place))
    return Data(f"{count} tars of {megabytes} MB", keys, f"tars/{{000..{count - 1:03d}}}.tar", "webdataset", RECORD)


def put_singles(server, count, size):
    block = os.urandom(size + count)
    keys = [f"singles/c{place % 4}/{place:06d}.bin" for place in range(count)]
    for place, key in enumerate(keys):
        server.put(BUCKET, key, block[place:place + size])
    return Data(f"{count} objects of {size // 1000} KB", keys, "singles/", "folder", size)


class Shaped:
    """The proxy with its address."""

    def __init__(self, program, port, latency_ms, rate, tails):
        self.process = subprocess.Popen([program, "127.0.0.1", str(port), str(latency_ms), str(rate), *tails],
                                        stdout=subprocess.PIPE, text=True)
        self.endpoint = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def close(self):
        self.process.terminate()
        self.process.wait()


def curl(endpoint, facts, data, parallel, folder):
    """(MB/s, CPU-seconds per GB) of one run over all objects."""
    config = pathlib.Path(folder, "curl")
    config.write_text("".join(f'url = "{endpoint}/{BUCKET}/{key}"\noutput = "/dev/null"\n' for key in data.keys))
    before, begin = children_cpu_seconds(), time.perf_counter()
    done = subprocess.run(["curl", "-sSZ", "--parallel-immediate", "--parallel-max", str(parallel), "--fail",
                           "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                           f"{facts['access_key']}:{facts['secret_key']}", "-K", str(config), "-w", "%{size_download}\n"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    seconds, cpu = time.perf_counter() - begin, children_cpu_seconds() - before
    size = sum(map(int, done.stdout.split()))
    return size / seconds / 1e6, cpu / size * 1e9


def stream_of(endpoint, data, options, read):
    more = f", {read}" if read else ""
    return stream_yaml([
        f"read: {{url: 's3://{BUCKET}/{data.url}', format: {data.form}, endpoint: '{endpoint}'{more}}}",
        f"shuffle: {{window: {options.window}}}",
        "decode: {data: {key: bin, as: bytes, max_bytes: 256KiB}}",
        "batch: {size: 64}", "publish: {slots: 4}"])


def echoline(daemon, epochs):
    """(MB/s, CPU-seconds of the daemon per GB from the store) of one trainer over some epochs."""
    def fetched():
        return sum(daemon.metric_lines("echoline_source_bytes_total").values())
    size, cpu, begin = fetched(), cpu_seconds(daemon.process.pid), time.perf_counter()
    done = subprocess.run([binary("ECHOLINE_CLI"), "read", "train", "--runtime-dir", str(daemon.runtime_dir), "--json",
                           "--epochs", str(epochs)], stdout=subprocess.PIPE, check=True)
    seconds = time.perf_counter() - begin
    size, cpu = fetched() - size, cpu_seconds(daemon.process.pid) - cpu
    report = json.loads(done.stdout.splitlines()[-1])
    return report["bytes"] / seconds / 1e6, cpu / size * 1e9


def one_run(daemon, *parts, servers=()):
    """[(MB/s, CPU-seconds of daemon and trainer per GB from the store, busy share of all processors, CPU-seconds of the
    processes `servers` per GB)] of each part of one trainer's run. A part is a number of epochs. The first part includes
    the trainer's start in this process, without its imports."""
    import echoline as library
    def state():
        fetched = sum(daemon.metric_lines("echoline_source_bytes_total").values())
        return (fetched, cpu_seconds(daemon.process.pid) + time.process_time(), processors(),
                sum(map(family_cpu_seconds, servers)))
    found, size = [], 0
    before = state()
    begin = time.perf_counter()
    with library.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
        for epochs in parts:
            for _ in range(epochs):
                size += sum(batch["data"].values.nbytes for batch in loader)
            end = time.perf_counter()
            now = state()
            fetched, cpu = now[0] - before[0], now[1] - before[1]
            found.append((size / (end - begin) / 1e6, cpu / fetched * 1e9, busy_share(before[2], now[2]),
                          (now[3] - before[3]) / fetched * 1e9))
            before, begin, size = now, end, 0
    return found


def threads(pid):
    """{name: CPU-seconds} of a process."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name, _, rest = (task / "stat").read_text(encoding="ascii").partition("(")[2].rpartition(")")
        fields = rest.split()
        found[name] = found.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {name: round(seconds, 2) for name, seconds in found.items() if seconds > 0.1}


def compare(data, endpoint, facts, options, folder):
    environment = {"AWS_ACCESS_KEY_ID": facts["access_key"], "AWS_SECRET_ACCESS_KEY": facts["secret_key"]}
    tries = {parallel: curl(endpoint, facts, data, parallel, folder) for parallel in options.parallel}
    best = max(tries, key=lambda parallel: tries[parallel][0])
    print(f"{data.name}; curl -Z by --parallel-max: " +
          ", ".join(f"{parallel}: {rate:.0f} MB/s" for parallel, (rate, _) in tries.items()), flush=True)
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Daemon(stream_of(endpoint, data, options, read), memory="2GiB",
                                              environment=environment, metrics=free_port()))
                   for read in options.read or [""]]
        rounds = [one_round(lambda: curl(endpoint, facts, data, best, folder), daemons, options)
                  for _ in range(options.rounds)]
        for place, daemon in enumerate(daemons):
            report(data, rounds, place, (options.read or [""])[place])
            if options.waits:
                report_waits(daemon)


def one_round(run_curl, daemons, options):
    """[(MB/s, CPU-s/GB)] of curl and of each daemon."""
    found = [run_curl(), *(echoline(daemon, options.epochs) for daemon in daemons)]
    print("  curl " + "   echoline ".join(f"{rate:6.0f} MB/s {cpu:5.2f} CPU-s/GB" for rate, cpu in found), flush=True)
    return found


def report(data, rounds, place, read):
    ratios = [found[1 + place][0] / found[0][0] for found in rounds]
    cpu = statistics.median(found[1 + place][1] for found in rounds)
    its = statistics.median(found[0][1] for found in rounds)
    rate = statistics.median(found[1 + place][0] for found in rounds)
    print(f"{data.name}: {rate:.0f} MB/s, ratio {statistics.median(ratios):.2f} (median of {len(ratios)}; "
          f"{min(ratios):.2f} to {max(ratios):.2f}), CPU-s/GB {cpu:.2f}, curl's {its:.2f}  {read}", flush=True)


def report_waits(daemon):
    print(f"  CPU-s by thread {threads(daemon.process.pid)}")
    for name in ("hedged_total", "wait_seconds_total", "requests_total", "request_seconds_sum", "request_seconds_count"):
        lines = daemon.metric_lines("echoline_source_" + name).items()
        print(f"  {name} " + ", ".join(f"{labels.split(',')[-1].rstrip('}')} {value:.1f}" for labels, value in lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shaper", help="the program of the proxy; without it there is no added latency")
    parser.add_argument("--latency", type=float, default=30, help="ms before the first byte of an answer")
    parser.add_argument("--rate", type=float, default=90e6, help="bytes/s of a connection")
    parser.add_argument("--tail", action="append", default=[], metavar="SHARE:MS",
                        help="adds this latency to this share of the answers, as 0.01:1000; may be repeated")
    parser.add_argument("--tars", type=int, default=10)
    parser.add_argument("--megabytes", type=int, default=100, help="of one tar")
    parser.add_argument("--singles", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2, help="of the daemon's runs")
    parser.add_argument("--parallel", type=int, nargs="+", default=[4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--window", type=int, default=1000, help="of the shuffle, in records")
    parser.add_argument("--read", action="append", help="more of the read step, as \"concurrency: 64\"; several in turn")
    parser.add_argument("--waits", action="store_true", help="print what the daemon waited for")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = Server("s3_server.py", "--dir", pathlib.Path(folder, "s3"), "--bucket", BUCKET)
        stack.callback(server.stop)
        sets = []
        if options.tars:
            sets.append(put_tars(server, options.tars, options.megabytes))
        if options.singles:
            sets.append(put_singles(server, options.singles, 100_000))
        endpoint = server.facts["endpoint"]
        if options.shaper:
            shaped = Shaped(options.shaper, server.facts["port"], options.latency, options.rate, options.tail)
            stack.callback(shaped.close)
            endpoint = shaped.endpoint
        for data in sets:
            compare(data, endpoint, server.facts, options, folder)


if __name__ == "__main__":
    main()
