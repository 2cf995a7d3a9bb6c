#!/usr/bin/env python3
"""The consumer loops of handoff.py, each with its producer. Prints {"batches", "bytes", "seconds", "cpu_seconds"}.

    handoff_loops.py echoline SECONDS RUNTIME_DIR PID  from a daemon that already runs
    handoff_loops.py dataloader SECONDS ROW ROWS       with torch
    handoff_loops.py grpc SECONDS BYTES                with grpcio
    handoff_loops.py ready RUNTIME_DIR                 nanoseconds of a step over ready batches, by kind of loop"""
import itertools
import json
import multiprocessing
import pathlib
import statistics
import sys
import time

from handoff import cpu_seconds


def count(batches, seconds, size_of, producers):
    """Takes batches for `seconds`; `producers()` returns the ids of the other processes that take part."""
    batches = iter(batches)
    for _ in range(20):
        next(batches)
    pids = producers()
    cpu, begin = time.process_time() + sum(map(cpu_seconds, pids)), time.perf_counter()
    taken = size = 0
    for batch in batches:
        size += size_of(batch)
        taken += 1
        del batch
        if taken % 16 == 0 and time.perf_counter() - begin > seconds:
            break
    took = time.perf_counter() - begin
    return {"batches": taken, "bytes": size, "seconds": took,
            "cpu_seconds": time.process_time() + sum(map(cpu_seconds, pids)) - cpu}


def ring_memory():
    """[(begin, end)] of the addresses of mapped rings."""
    lines = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return [tuple(int(edge, 16) for edge in line.split()[0].split("-")) for line in lines if "/memfd:" in line]


def echoline_loop(seconds, folder, daemon):
    import echoline

    loader = echoline.Loader("train", runtime_dir=folder)
    ring = ring_memory()
    copied = 0

    def size_of(batch):
        nonlocal copied
        tokens = batch["tokens"]
        if batch.step % 1000 == 0:
            begin = tokens.__array_interface__["data"][0]
            copied += not any(low <= begin < high for low, high in ring)
        return tokens.nbytes

    def epochs():
        while True:
            yield from loader

    return count(epochs(), seconds, size_of, lambda: [daemon]) | {"copied": copied}


def dataloader_loop(seconds, row, rows):
    import torch.utils.data

    class Rows(torch.utils.data.Dataset):
        ready = torch.zeros(int(rows), int(row), dtype=torch.uint8)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, at):
            return self.ready[at % len(self.ready)]

    loader = torch.utils.data.DataLoader(Rows(), batch_size=int(rows), num_workers=1, sampler=range(1 << 30))
    batches = iter(loader)
    return count(batches, seconds, lambda batch: batch.nbytes if hasattr(batch, "nbytes") else batch.numel(),
                 lambda: [worker.pid for worker in batches._workers])


UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


def grpc_server(size, port):
    import concurrent.futures

    import grpc

    ready = bytes(size)

    def forever(_request, _context):
        while True:
            yield ready

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), options=UNLIMITED)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "Batches", {"Read": grpc.unary_stream_rpc_method_handler(forever)}),))
    port.send(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    server.wait_for_termination()


def grpc_loop(seconds, size):
    mine, its = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=grpc_server, args=(int(size), its), daemon=True)
    server.start()
    import grpc
    import numpy

    channel = grpc.insecure_channel(f"127.0.0.1:{mine.recv()}", options=UNLIMITED)
    stream = channel.unary_stream("/Batches/Read")(b"", wait_for_ready=True)
    found = count(stream, seconds, lambda batch: numpy.frombuffer(batch, numpy.uint8).nbytes, lambda: [server.pid])
    server.kill()
    return found


def ready_loop(folder):
    """Bursts of 500 steps of each kind in turn. The arrays have the stream's shapes: 4 rows of 105 bytes and a label."""
    import numpy

    import echoline

    loader = echoline.Loader("train", runtime_dir=folder)
    image, label = numpy.zeros((2000, 105), numpy.uint8), numpy.zeros(2000, numpy.int64)
    arrays = [{"image": image[at:at + 4], "label": label[at:at + 4]} for at in range(0, 2000, 4)]
    batches = iter(loader)
    take = loader.next

    def listed():
        for each in arrays:
            each["image"], each["label"]

    def sliced():
        for at in range(0, 2000, 4):
            image[at:at + 4], label[at:at + 4]

    def looped():
        for batch in itertools.islice(batches, 500):
            pass

    def called():
        for _ in range(500):
            batch = take()

    def viewed():
        for batch in itertools.islice(batches, 500):
            batch["image"], batch["label"]

    kinds = {"bare loop, a list's two arrays": listed, "bare loop, two slices of arrays": sliced,
             "for over a loader": looped, "loader.next()": called, "for over a loader, two arrays": viewed}
    time.sleep(1)
    times = {name: [] for name in kinds}
    for _ in range(12):
        for name, kind in kinds.items():
            begin = time.perf_counter_ns()
            kind()
            times[name].append((time.perf_counter_ns() - begin) / 500)
    return {name: statistics.median(each) for name, each in times.items()}


if __name__ == "__main__":
    LOOPS = {"echoline": echoline_loop, "dataloader": dataloader_loop, "grpc": grpc_loop, "ready": ready_loop}
    ARGUMENTS = sys.argv[2:] if sys.argv[1] == "ready" else [float(sys.argv[2]), *sys.argv[3:]]
    print(json.dumps(LOOPS[sys.argv[1]](*ARGUMENTS)))
