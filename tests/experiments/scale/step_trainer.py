#!/usr/bin/env python3
"""A rank of a job whose ranks train in step: each works for a time, then waits for all others as an all-reduce does. Writes
the time of the end of each step as a line.

    step_trainer.py RUNTIME_DIR SOCKET RANK WORLD_SIZE RANKS_PER_HOST STEPS SECONDS"""
import socket
import sys
import time

import echoline


def main():
    runtime_dir, barrier = sys.argv[1:3]
    rank, world_size, ranks_per_host, steps = map(int, sys.argv[3:7])
    work = float(sys.argv[7])
    with socket.socket(socket.AF_UNIX) as others, echoline.Loader(
            "train", "job", rank, world_size, local_world_size=ranks_per_host, runtime_dir=runtime_dir) as loader:
        others.connect(barrier)
        done = 0
        while done < steps:
            batch = loader.next()
            if batch is None:
                continue
            time.sleep(work)
            del batch  # the slot is free when the step ends
            others.sendall(b"x")
            others.recv(1)
            done += 1
            print(time.monotonic(), flush=True)


if __name__ == "__main__":
    main()
