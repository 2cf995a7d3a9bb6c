"""The streams of the storm, and the jobs that read them."""
from support.daemon_process import stream_yaml
from support.records import DECODE
from support.storm import Member

BATCH = 16
# {job: (ranks, batch size (None: the stream's), seconds of work on a batch)}
JOBS = {"wide": (4, None, 0.02), "quick": (1, None, 0.015), "slow": (1, 24, 0.05)}
# {name: (echo step, the step after it, jobs)}. Batch echo allows only the stream's own batch size.
STREAMS = {"record": ("echo: {factor: 2, window: 64}", "decode", ("wide", "quick", "slow")),
           "sample": ("echo: {factor: 1.5, window: 64}", "random_crop", ("wide", "slow")),
           "batch": ("echo: {factor: 3, window: 2}", "publish", ("quick",))}


def yaml(store):
    text = ""
    for seed, (name, (echo, before, _)) in enumerate(STREAMS.items()):
        steps = [f"read: {{url: '{store.url}', format: webdataset, endpoint: '{store.endpoint}', region: us-east-1, "
                 "read_ahead: 256KiB}", "shuffle: {window: 50}",
                 DECODE,
                 "random_crop: {field: image, size: 8, padding: 2}", f"batch: {{size: {BATCH}, last: partial}}",
                 "publish: {slots: 6}"]
        at = next(at for at, step in enumerate(steps) if step.startswith(before))
        text += stream_yaml([*steps[:at], echo, *steps[at:]], name=name, seed=seed)
    return text


def members(daemon, hurry=False):
    """One for each rank of each job; `hurry`: without the seconds of work on a batch."""
    found = []
    for stream, (_, _, jobs) in STREAMS.items():
        for job in jobs:
            ranks, batch_size, pace = JOBS[job]
            found += [Member(daemon, stream, job, rank, ranks, batch_size, 0.0 if hurry else pace)
                      for rank in range(ranks)]
    return found
