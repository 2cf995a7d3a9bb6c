"""A job on many hosts as a network of queues, step by step.

The unit is what one host needs for one step of training. It passes the store or the fleet, the preparation servers if
there are some, the link of the host, and its workers. Each of these serves in order and at a fixed rate, so the time
at which it has served a piece is max(arrival, end of the piece before) + work: no smaller events are needed, and the
result is exact for the queues. Three things hold pieces back, as in the daemon: a step is requested when an earlier
step is made (read.read_ahead), it is made when an earlier step is released (publish.slots), and no host begins a step
before all have it (the trainers' all-reduce)."""
import dataclasses
import math
from typing import Optional, Sequence

import numpy

REFILL_AT = 0.75  # of the read-ahead


@dataclasses.dataclass(frozen=True)
class Store:
    """Bytes per second to all clients, seconds to the first byte, and late answers: (share of the requests, seconds)."""
    rate: float
    first_byte: float = 0.0
    late: Sequence[tuple[float, float]] = ()


@dataclasses.dataclass(frozen=True)
class Fleet:
    """Servers that have the share `kept` of the data; the rate of each in bytes per second."""
    servers: int
    rate: float
    kept: float
    hottest: float = 1.0  # load of the most loaded server, relative to the mean


@dataclasses.dataclass(frozen=True)
class Preparation:
    """Servers that decode: seconds of all of them together for a sample, and the bytes of a decoded sample."""
    sample_seconds: float
    sample_bytes: float


@dataclasses.dataclass(frozen=True)
class Job:
    """`samples` and times are of one host and one step; `link` is of each host, or one for each, in bytes per second."""
    hosts: int
    samples: int
    record_bytes: float
    step_seconds: float  # of the trainer alone
    make_seconds: float  # of the workers, which share the host's cores
    link: object
    read_ahead: float
    slots: int
    request_bytes: float

    @property
    def step_bytes(self):
        return self.samples * self.record_bytes


@dataclasses.dataclass(frozen=True)
class Course:
    """What happened."""
    ends: numpy.ndarray  # of the steps, in seconds after the start
    late_hosts: numpy.ndarray  # of each step, the host that was ready last

    def rate(self, first):
        """Steps per second after the step `first`."""
        return (len(self.ends) - 1 - first) / (self.ends[-1] - self.ends[first])


class Queue:
    """Serves pieces in the order in which they arrive, all hosts' pieces of a step before those of the next one."""

    def __init__(self):
        self.free = 0.0

    def serve(self, arrivals, seconds):
        """The times at which the pieces are served; each needs `seconds`."""
        if seconds == 0:
            return arrivals
        order = numpy.argsort(arrivals, kind="stable")
        before = seconds * numpy.arange(len(arrivals))
        begins = numpy.maximum.accumulate(numpy.maximum(arrivals[order], self.free) - before) + before
        served = numpy.empty_like(arrivals)
        served[order] = begins + seconds
        self.free = served[order[-1]]
        return served


def delays(store, requests, hosts, draw):
    """Of each host, the latest of its requests of a step."""
    delay = numpy.full(hosts, store.first_byte)
    for share, seconds in store.late:
        is_late = draw.random(hosts) < 1 - (1 - share) ** requests
        delay = numpy.where(is_late, numpy.maximum(delay, seconds), delay)
    return delay


def request_points(steps, window):
    """Of each step, how many steps must be made before all of it is requested. `window` steps are requested and not made at
    most; once three quarters or less are left, it is filled up again (daemon/engine/pass/read_ahead_planner.cc)."""
    points, requested = [], window
    for made in range(steps + 1):
        if requested - made <= REFILL_AT * window:
            requested = made + window
        while len(points) < steps and len(points) + 1 <= requested + 1e-9:
            points.append(made)
    return points


def simulate(job, store, steps, fleet: Optional[Fleet] = None, preparation: Optional[Preparation] = None, seed=1):
    """The course of `steps` steps. All hosts begin with nothing read."""
    draw = numpy.random.default_rng(seed)
    hosts, kept = job.hosts, fleet.kept if fleet else 0.0
    piece = job.step_bytes
    carried = job.samples * preparation.sample_bytes if preparation else piece  # over the link of the host
    # A limit that is less than a batch is raised to it.
    points = request_points(steps, max(1.0, job.read_ahead / carried))
    requests = math.ceil(piece * (1 - kept) / job.request_bytes)
    link_seconds = carried / numpy.broadcast_to(numpy.asarray(job.link, float), hosts)
    store_queue, fleet_queue, servers = Queue(), Queue(), Queue()
    linked, made = numpy.zeros(hosts), []
    ends, late_hosts = [], []
    for step in range(steps):
        requested = made[points[step] - 1] if points[step] else numpy.zeros(hosts)
        sent = store_queue.serve(requested, piece * (1 - kept) / store.rate)
        sent = numpy.maximum(sent, requested + delays(store, requests, hosts, draw)) if requests else sent
        if fleet:
            busiest = fleet.rate * fleet.servers / fleet.hottest
            sent = numpy.maximum(sent, fleet_queue.serve(requested, piece * kept / busiest))
        if preparation:
            sent = servers.serve(sent, job.samples * preparation.sample_seconds)
        # A link carries the first bytes while the store still sends the last ones.
        linked = numpy.maximum(requested, linked) + link_seconds
        arrived = numpy.maximum(sent, linked)
        released = ends[step - job.slots] if step >= job.slots else 0.0
        made.append(numpy.maximum(numpy.maximum(arrived, released), made[-1] if made else 0.0) + job.make_seconds)
        late_hosts.append(int(made[-1].argmax()))
        ends.append(max(made[-1].max(), ends[-1] if ends else 0.0) + job.step_seconds)
    return Course(numpy.array(ends), numpy.array(late_hosts))


def start_seconds(hosts, index_bytes, store_rate, link, daemon_seconds):
    """From the start of all hosts at once until each has the published index: they read it at the same time."""
    return daemon_seconds + max(hosts * index_bytes / store_rate, index_bytes / link)


def hottest_share(servers, points, seed=1):
    """Load of the most loaded of the servers that share a circle by random points, relative to the mean load."""
    draw = numpy.random.default_rng(seed)
    places = numpy.sort(draw.random(servers * points))
    owners = draw.permutation(numpy.repeat(numpy.arange(servers), points))
    gaps = numpy.diff(places, append=places[0] + 1)
    return float(numpy.bincount(owners, gaps).max() * servers)
