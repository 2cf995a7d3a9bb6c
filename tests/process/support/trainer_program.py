#!/usr/bin/env python3
"""A trainer for tests that kill it. Writes one JSON line for each batch and, if an error ends the loop, one for the
error. SIGTERM ends it after the current batch."""
import argparse
import collections
import json
import logging
import os
import signal
import sys
import time
import zlib

import echoline


def facts(batch, wait):
    rows = zlib.crc32(batch.uses.tobytes(), zlib.crc32(batch.sample_ids.tobytes()))
    pixels = zlib.crc32(batch["image"].tobytes())
    return {"epoch": batch.epoch, "step": batch.step, "rows": rows, "pixels": pixels, "wait": round(wait, 4),
            "time": time.monotonic()}


def rows_of(batch):
    """Of each row: sample id, use, checksum of its pixels, and whether it is valid, no repeat that fills up the batch."""
    return [[int(sample), int(use), zlib.crc32(pixels.tobytes()), bool(valid)]
            for sample, use, pixels, valid in zip(batch.sample_ids, batch.uses, batch["image"], batch.valid)]


class News(logging.Handler):
    """Writes the loader's messages about other trainers as lines."""

    def __init__(self, write):
        super().__init__()
        self.write = write

    def emit(self, record):
        self.write(news=record.getMessage())


def attached(options):
    """A loader. With --persist it retries while there is no daemon, as a supervisor of trainers does."""
    deadline = time.monotonic() + options.persist
    while True:
        try:
            return echoline.Loader(options.stream, options.job, options.rank, options.world_size, options.batch_size,
                                   join=options.join, reattach=options.reattach, runtime_dir=options.runtime_dir,
                                   state=json.loads(options.state),
                                   local_world_size=options.local_world_size)
        except echoline.Error as error:
            refused = isinstance(error, (echoline.InvalidArgument, echoline.FailedPrecondition))
            if refused or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def forked(count):
    """Process numbers of children like those of a DataLoader: forked during training, with all open files."""
    children = []
    for _ in range(count):
        children.append(os.fork())
        if children[-1] == 0:
            time.sleep(120)
            os._exit(0)
    return children


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime_dir")
    parser.add_argument("--stream", default="train")
    parser.add_argument("--job", default="default")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world-size", type=int, default=1)
    parser.add_argument("--local-world-size", type=int, help="ranks of the job on this host")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--join", default="start")
    parser.add_argument("--state", default="null", help="where to resume, as JSON")
    parser.add_argument("--checkpoint", action="store_true", help="write the state after each batch")
    parser.add_argument("--rows", action="store_true", help="write the rows of each batch, too")
    parser.add_argument("--persist", type=float, default=0.0, help="seconds for which to retry a missing daemon")
    parser.add_argument("--reattach", default="60s")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds of work on each batch")
    parser.add_argument("--keep", type=int, default=0, help="batches to hold in addition to the current one")
    parser.add_argument("--forks", type=int, default=0, help="children to fork when --stop-after is reached")
    parser.add_argument("--stop-after", type=int, default=0, help="take so many batches, then wait for a signal")
    options = parser.parse_args()
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))

    def write(**line):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    logging.getLogger("echoline").addHandler(News(write))
    kept = collections.deque(maxlen=options.keep + 1)
    count = 0
    try:
        begin = time.monotonic()
        loader = attached(options)
        write(attached=True, wait=round(time.monotonic() - begin, 4), time=time.monotonic())
        while not ended:
            begin = time.monotonic()
            batch = loader.next()
            if batch is None:
                continue
            kept.append(batch)
            line = facts(batch, time.monotonic() - begin)
            if options.rows:
                line["rows"] = rows_of(batch)
            if options.checkpoint:
                line["state"] = loader.state_dict()
            write(**line)
            count += 1
            if options.stop_after and count == options.stop_after:
                write(children=forked(options.forks))
                signal.pause()
            time.sleep(options.pace)
    except echoline.Error as error:
        write(error=type(error).__name__, text=str(error), time=time.monotonic())
        return 3
    kept.clear()
    loader.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
