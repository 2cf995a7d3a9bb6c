#!/usr/bin/env python3
"""The consumer loops of handoff.py, each with its producer. Prints {"batches", "bytes", "seconds", "cpu_seconds"}.

    handoff_loops.py echoline SECONDS RUNTIME_DIR PID    from a daemon that already runs
    handoff_loops.py LOADER SECONDS ROW ROWS             dataloader (torch), grain, ray, grpc or tensorsocket: bytes of a
                                                         row, rows
    handoff_loops.py ready RUNTIME_DIR                   nanoseconds of a step over ready batches, by kind of loop"""
import itertools
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

from suite.rounds import cpu_seconds
from support.programs import free_port


def descendants():
    """The processes that this one has started, and those that they have."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def figures(found):
    """(GB/s, CPU-seconds per GB, microseconds of CPU per batch) of what a loop has counted."""
    gigabytes = found["bytes"] / 1e9
    return (gigabytes / found["seconds"], found["cpu_seconds"] / gigabytes, found["cpu_seconds"] / found["batches"] * 1e6)


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
        ready = torch.zeros(rows, row, dtype=torch.uint8)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, at):
            return self.ready[at % len(self.ready)]

    loader = torch.utils.data.DataLoader(Rows(), batch_size=rows, num_workers=1, sampler=range(1 << 30))
    batches = iter(loader)
    return count(batches, seconds, torch.numel,
                 lambda: [worker.pid for worker in batches._workers])


def grain_loop(seconds, row, rows):
    """One worker process, which puts batches into shared memory."""
    import grain.python as grain
    import numpy

    class Rows:
        ready = numpy.zeros((rows, row), numpy.uint8)

        def __len__(self):
            return 1 << 20

        def __getitem__(self, at):
            return self.ready[at % rows]

    loader = grain.DataLoader(
        data_source=Rows(), sampler=grain.SequentialSampler(1 << 20, grain.NoSharding()), worker_count=1,
        operations=[grain.Batch(rows)], enable_profiling=False)
    return count(loader, seconds, lambda batch: batch.nbytes, descendants)


def ray_loop(seconds, row, rows):
    """An actor puts a new batch into the object store for each step; the consumer's array is a view of it."""
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=2 << 30)

    @ray.remote
    class Producer:
        def __init__(self):
            import numpy

            self.ready = numpy.zeros((rows, row), numpy.uint8)

        def batch(self):
            return self.ready

    producer = Producer.remote()

    def batches():
        ahead = [producer.batch.remote() for _ in range(4)]
        while True:
            batch = ray.get(ahead.pop(0))
            ahead.append(producer.batch.remote())
            yield batch

    found = count(batches(), seconds, lambda batch: batch.nbytes, descendants)
    ray.shutdown()
    return found


def tensorsocket_producer(ports, row, rows):
    import tensorsocket
    import torch.utils.data

    class Rows(torch.utils.data.Dataset):
        ready = torch.zeros(rows, row, dtype=torch.uint8)

        def __len__(self):
            return rows << 20

        def __getitem__(self, at):
            return (self.ready[at % rows],)

    loader = torch.utils.data.DataLoader(Rows(), batch_size=rows)
    producer = tensorsocket.TensorProducer(loader, *ports[:2], ports[2:], rubber_band_pct=8 / len(loader),
                                          producer_batch_size=2)
    while True:
        for _ in producer:
            pass


def tensorsocket_loop(seconds, row, rows):
    """A producer process collates rows that are ready, and shares the batch's memory."""
    import tensorsocket

    ports = [free_port() for _ in range(4)]
    spawn = multiprocessing.get_context("spawn")
    producer = spawn.Process(target=tensorsocket_producer, args=(ports, row, rows), daemon=True)
    producer.start()
    consumer = tensorsocket.TensorConsumer(*ports[:2], tuple(ports[2:]), batch_size=rows)
    found = count((batch for batch, in consumer), seconds, lambda batch: batch.nbytes, lambda: [producer.pid])
    producer.kill()
    return found


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


def grpc_loop(seconds, row, rows):
    """The same bytes again and again."""
    mine, its = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=grpc_server, args=(row * rows, its), daemon=True)
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


LOOPS = {"dataloader": dataloader_loop, "grain": grain_loop, "ray": ray_loop, "grpc": grpc_loop,
         "tensorsocket": tensorsocket_loop}


def main(loop, *arguments):
    if loop == "ready":
        return ready_loop(*arguments)
    if loop == "echoline":
        seconds, folder, daemon = arguments
        return echoline_loop(float(seconds), folder, int(daemon))
    seconds, row, rows = arguments
    return LOOPS[loop](float(seconds), int(row), int(rows))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
