#!/usr/bin/env python3
"""A trainer as a process of its own, for kill_test.py: writes one JSON line for each batch and, where the loop ends
by an error, one for the error. SIGTERM ends it after the batch it is at."""
import argparse
import collections
import json
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime_dir")
    parser.add_argument("--job", default="default")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world-size", type=int, default=1)
    parser.add_argument("--join", default="start")
    parser.add_argument("--reattach", default="60s")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds of work on each batch")
    parser.add_argument("--keep", type=int, default=0, help="batches that are held back besides the current one")
    parser.add_argument("--stop-after", type=int, default=0, help="sleep for ever once so many batches are held")
    options = parser.parse_args()
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))

    def tell(**line):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    kept = collections.deque(maxlen=options.keep + 1)
    count = 0
    try:
        loader = echoline.Loader("train", options.job, options.rank, options.world_size, join=options.join,
                                 reattach=options.reattach, runtime_dir=options.runtime_dir)
        tell(attached=time.monotonic())
        while not ended:
            begin = time.monotonic()
            batch = loader.next()
            if batch is None:
                continue
            kept.append(batch)
            tell(**facts(batch, time.monotonic() - begin))
            count += 1
            if options.stop_after and count == options.stop_after:
                signal.pause()
            time.sleep(options.pace)
    except echoline.Error as error:
        tell(error=type(error).__name__, text=str(error), time=time.monotonic())
        return 3
    kept.clear()
    loader.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
