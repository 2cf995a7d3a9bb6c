"""The rate of a warm cache: `echoline read` on a stream of 110 KB records that are in the disk cache, in the memory cache, or
in the local source file, all of it in the page cache. CPU is the daemon's, from the record's bytes to the row in the ring;
"one thread" reads the file sequentially into one buffer."""
import contextlib
import json
import os
import pathlib
import tempfile
import time

from suite.rounds import Table, cpu_seconds, interleave
from support.cached_daemon import CachedDaemon
from support.daemon_process import stream_yaml

PROGRAMS = ()
LENGTH = 55_296  # of 2 bytes
BATCH = 64
EPOCHS_MAX = 20


def stream(path, cache):
    return stream_yaml([f"read: {{url: '{path}', format: tokens, tokens: {{length: {LENGTH}}}}}",
                        f"cache: {cache}" if cache else "", "shuffle: {window: all}",
                        f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{LENGTH}]}}}}",
                        f"batch: {{size: {BATCH}}}", "publish: {slots: 8}"])


def read(daemon, batches):
    done = daemon.command("read", "train", "--json", "--batches", batches)
    return json.loads(done.stdout.splitlines()[-1])


def one_thread(path):
    """(GB/s, CPU-seconds per GB)"""
    buffer = bytearray(1 << 20)
    begin, cpu, size = time.monotonic(), time.process_time(), 0
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            size += count
    return size / 1e9 / (time.monotonic() - begin), (time.process_time() - cpu) / size * 1e9


def from_daemon(daemon, batches):
    """(GB/s, CPU-seconds of the daemon per GB); a cached stream must not read its source again."""
    cpu, stored = cpu_seconds(daemon.process.pid), daemon.store_bytes()
    report = read(daemon, batches)
    gigabytes = report["bytes"] / 1e9
    if daemon.cached and daemon.store_bytes() - stored > 0.02 * report["bytes"]:
        raise RuntimeError("the cache is not warm: records came from the source")
    return gigabytes / report["seconds"], (cpu_seconds(daemon.process.pid) - cpu) / gigabytes


def warm(daemon, epoch):
    """Reads epochs until the cache has all records. A disk takes some of them only in a later epoch, if they come faster than
    it writes."""
    for _ in range(EPOCHS_MAX):
        stored = daemon.store_bytes()
        read(daemon, epoch + 16)
        if not daemon.cached or daemon.store_bytes() == stored:
            break
        time.sleep(2)  # until the disk cache has written what it has taken


def measure(options):
    megabytes = 40 if options.quick else 800
    epoch = megabytes * 1_000_000 // (2 * LENGTH * BATCH)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        path = pathlib.Path(folder, "tokens.bin")
        with open(path, "wb") as out:
            for _ in range(epoch * BATCH):
                out.write(os.urandom(2 * LENGTH))
        caches = {"memory cache": f"{{memory: {2 * megabytes}MB}}",
                  "disk cache": f"{{disk: {{path: {folder}/cache, size: {2 * megabytes}MB}}}}", "no cache": ""}
        ways = {}
        for name, cache in caches.items():
            daemon = running.enter_context(CachedDaemon(stream(path, cache), memory="4GiB"))
            daemon.cached = bool(cache)
            warm(daemon, epoch)
            ways[f"Echoline, {name}"] = lambda daemon=daemon: from_daemon(daemon, 3 * epoch)
        ways["one thread, in order"] = lambda: one_thread(path)
        found = interleave(ways, options.rounds)
    return [Table("A warm cache, records of 110 KB", "GB/s", found.rows(lambda result: result[0])),
            Table("CPU time of a warm cache", "CPU-s per GB", found.rows(lambda result: result[1]), more_is_better=False)]
