#!/usr/bin/env python3
"""Computes jobs on 10 to 10,000 hosts and prints tables: which part becomes the limit, and when. --svg FILE draws them.

    sweep.py [--svg docs/scale.svg]"""
import argparse
import dataclasses
import pathlib

import chart
import costs
from model import Fleet, Job, Preparation, Store, hottest_share, simulate, start_seconds

HOSTS = (10, 32, 100, 316, 1000, 3162, 10000)
STEPS, FIRST = 120, 20  # simulated, and those before the first one that counts

# The scenario; nothing of it is measured. Photos for eight accelerators of 512 photos a second each, whose host has 64 cores
# and a link of 100 Gbit/s, and 100 GB of memory for the fleet; a store that sends 100 GB/s to all clients together.
SAMPLES, STEP_SECONDS, CORES = 8 * 256, 0.5, 64
LINK, STORE_RATE, FLEET_BYTES = 12.5e9, 100e9, 100e9
DATA_BYTES = 100e12
FIRST_BYTE = 0.03
LATE = ((0.001, 5.0),)  # as in the measurements of docs/transfers_internals.md, "Hedging"
SLOW_LINK = 0.25e9
SERVER_CORES = 1000
# A store without a limit of its rate, to see the other limits.
AMPLE = Store(1e18, FIRST_BYTE)


def job(hosts, **more):
    plain = Job(hosts=hosts, samples=SAMPLES, record_bytes=costs.PHOTO_BYTES, step_seconds=STEP_SECONDS,
                make_seconds=SAMPLES * costs.PHOTO_SECONDS / CORES, link=min(LINK, costs.FETCH_RATE),
                read_ahead=costs.READ_AHEAD, slots=costs.SLOTS, request_bytes=costs.REQUEST_BYTES)
    return dataclasses.replace(plain, **more)


def speed(job_, store, fleet=None, preparation=None):
    """Relative to trainers that never wait."""
    return STEP_SECONDS * simulate(job_, store, STEPS, fleet, preparation).rate(FIRST)


def prepared_speed(hosts):
    """Servers decode and send, hosts receive."""
    transfer_seconds = costs.DECODED_BYTES * costs.PREPARED_SECONDS_PER_BYTE
    servers = Preparation((costs.PHOTO_SECONDS + transfer_seconds) / SERVER_CORES, costs.DECODED_BYTES)
    return speed(job(hosts, make_seconds=SAMPLES * transfer_seconds / CORES, link=LINK), AMPLE, preparation=servers)


def fleet_of(hosts):
    kept = min(1.0, costs.FLEET_USABLE * hosts * FLEET_BYTES / DATA_BYTES)
    return Fleet(hosts, LINK, kept, hottest_share(hosts, costs.KETAMA_POINTS))


def hedged(late):
    """A late request is overtaken by a second one, unless that is late, too."""
    second = costs.HEDGE_SECONDS + FIRST_BYTE
    return tuple(pair for share, seconds in late for pair in ((share ** 2, seconds), (share, second)))


SERIES = {
    "first epoch, store of 100 GB/s": lambda hosts: speed(job(hosts), Store(STORE_RATE, FIRST_BYTE)),
    "later epochs, with a fleet": lambda hosts: speed(job(hosts), Store(STORE_RATE, FIRST_BYTE), fleet_of(hosts)),
    "late answers, hedge: off": lambda hosts: speed(job(hosts), dataclasses.replace(AMPLE, late=LATE)),
    "late answers, hedge: auto": lambda hosts: speed(job(hosts), dataclasses.replace(AMPLE, late=hedged(LATE))),
    "late answers, read_ahead: 4GiB": lambda hosts: speed(job(hosts, read_ahead=4 << 30),
                                                           dataclasses.replace(AMPLE, late=hedged(LATE))),
    "decoding on 1,000 cores of servers": prepared_speed,
    "one host with a link of 2 Gbit/s": lambda hosts: speed(
        job(hosts, link=[SLOW_LINK] + [min(LINK, costs.FETCH_RATE)] * (hosts - 1)), AMPLE),
}


def index_start(hosts, records):
    return start_seconds(hosts, records * costs.INDEX_BYTES, STORE_RATE, LINK, costs.START_SECONDS)


STARTS = {
    "1.28 million records": lambda hosts: index_start(hosts, 1.28e6),
    "100 million records": lambda hosts: index_start(hosts, 100e6),
    f"{DATA_BYTES / costs.PHOTO_BYTES / 1e6:.0f} million records (100 TB)":
        lambda hosts: index_start(hosts, DATA_BYTES / costs.PHOTO_BYTES),
}
MEMORY = {
    "ring with two slots, GB on each host": lambda hosts: costs.SLOTS_LEAST * hosts * SAMPLES * costs.ROW_BYTES / 1e9,
    "most loaded server of the fleet, relative to the mean": lambda hosts: hottest_share(hosts, costs.KETAMA_POINTS),
    "share of 100 TB that the fleet keeps": lambda hosts: fleet_of(hosts).kept,
    "connections to each server of the fleet": lambda hosts: costs.FLEET_CONNECTIONS * hosts,
}


def table(title, rows):
    """Markdown."""
    lines = [f"| {title} | " + " | ".join(f"{hosts:,}" for hosts in HOSTS) + " |", "|" + " --- |" * (len(HOSTS) + 1)]
    for name, values in rows.items():
        texts = [f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in values]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", type=pathlib.Path)
    options = parser.parse_args()
    computed = [{name: [of(hosts) for hosts in HOSTS] for name, of in group.items()} for group in (SERIES, STARTS, MEMORY)]
    for title, rows in zip(("speed, relative to the trainers' own; hosts:", "seconds until all have the index; hosts:",
                            "other limits; hosts:"), computed):
        print(table(title, rows))
    if options.svg:
        options.svg.write_text(chart.draw(HOSTS, [
            chart.Panel("Speed of training, relative to trainers that never wait", computed[0], False),
            chart.Panel("Seconds until all hosts have a published index", computed[1], True)]), encoding="utf-8")


if __name__ == "__main__":
    main()
