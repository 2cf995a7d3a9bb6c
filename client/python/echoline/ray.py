"""Daemons and loaders on a Ray cluster: one daemon on each node that trains. Only this module imports ray.

    daemons = echoline.ray.Daemons("stream.yaml")      # in the driver; nothing runs yet

    def train(config):                                 # in each worker of Ray Train
        loader = config["daemons"].loader("train", loader_type=echoline.torch.Loader)

    TorchTrainer(train, train_loop_config={"daemons": daemons}, ...).fit()
    daemons.stop()
"""
from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import pathlib
import sys
import threading
import uuid
from collections import Counter
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import ray
import yaml
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ._configuration import DEFAULT_STREAM, Configuration, configuration_text
from ._errors import Error, FailedPrecondition, InvalidArgument
from ._loader import Loader
from ._serve import Daemon

__all__ = ["Daemons", "Place", "place_in_train", "places"]

_log = logging.getLogger("echoline")
_STOP_SECONDS = 30
# Of a daemon that dies, as for private daemons.
_RESTARTS = 5


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a rank is: its number, that on its node, and how many there are in all and on the node."""

    rank: int
    world_size: int
    local_rank: int
    local_world_size: int

    def lanes(self, total: int) -> range:
        """The lanes of a stream with `total` lanes from which this rank gets rows."""
        return range(self.rank * total // self.world_size, -(-(self.rank + 1) * total // self.world_size))

    def reads_alone(self, total: int) -> bool:
        """Whether no other node needs the lanes of this node. Ranks of a node must follow each other."""
        first = self.rank - self.local_rank
        return first * total % self.world_size == 0 and self.local_world_size * total % self.world_size == 0


def place_in_train() -> Place:
    """The place of this worker of Ray Train. Raises FailedPrecondition elsewhere."""
    try:
        from ray import train
        context = train.get_context()
        found = (context.get_world_rank(), context.get_world_size(), context.get_local_rank(),
                 context.get_local_world_size())
    except (ImportError, RuntimeError, AttributeError) as error:
        raise FailedPrecondition(f"this is no worker of Ray Train: {error}; give place=, see echoline.ray.places") from error
    if None in found:
        raise FailedPrecondition("this is no worker of Ray Train: give place=, see echoline.ray.places")
    return Place(*found)


def _node_of(_: Any) -> str:
    return ray.get_runtime_context().get_node_id()


def places(actors: Sequence[Any], timeout: float = 60) -> List[Place]:
    """The place of each of these actors, which are the ranks of one job: those of a node get neighbouring ranks.

    InvalidArgument: no actors. ray.exceptions.GetTimeoutError: an actor does not run within `timeout` seconds.
    """
    if not actors:
        raise InvalidArgument("a job has one actor at least")
    nodes = ray.get([actor.__ray_call__.remote(_node_of) for actor in actors], timeout=timeout)
    sizes = Counter(nodes)
    first = 0
    begins: Dict[str, int] = {}
    for node, size in sizes.items():  # in the order in which the nodes appear
        begins[node] = first
        first += size
    found: List[Place] = []
    seen: Counter[str] = Counter()
    for node in nodes:
        found.append(Place(begins[node] + seen[node], len(nodes), seen[node], sizes[node]))
        seen[node] += 1
    return found


class _Host:
    """The actor of a node. It owns the daemon: when one of the two ends, so does the other, and Ray starts both again."""

    def __init__(self, folder: str, text: str, settings: Mapping[str, Any], timeout: float) -> None:
        self._folder, self._failure, self._stopping = folder, "", False
        self._daemon: Optional[Daemon] = None
        try:
            self._daemon = self._started(text, settings, timeout)
        except (Error, OSError) as error:
            self._failure = str(error)  # for every worker that asks
            return
        threading.Thread(target=self._end_with_daemon, args=(self._daemon,), daemon=True).start()

    def _started(self, text: str, settings: Mapping[str, Any], timeout: float) -> Daemon:
        # The folder is still there when Ray has started this actor again: the daemon finds its trainers in it.
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        if os.lstat(self._folder).st_uid != os.geteuid():
            raise Error(f"{self._folder} belongs to another user")
        config = pathlib.Path(self._folder) / "echoline.yaml"
        config.write_text(text, encoding="utf-8", errors="surrogateescape")
        return Daemon(config, settings, timeout, runtime_dir=self._folder)

    def _end_with_daemon(self, daemon: Daemon) -> None:
        code = daemon._process.wait()
        if not self._stopping:
            print(f"echoline: the daemon ended with exit code {code}; Ray starts it again", file=sys.stderr, flush=True)
            os._exit(1)

    def state(self) -> Tuple[str, str]:
        """The daemon's folder, and why it did not start."""
        return self._folder, self._failure

    def stop(self) -> None:
        self._stopping = True
        if self._daemon is not None:
            self._daemon.stop()


class _Starter:
    """Owns the actors of all nodes, so that they end with the driver and not with the first worker that needs one."""

    def __init__(self, text: str, settings: Mapping[str, Any], timeout: float, cpus: float) -> None:
        self._arguments, self._cpus = (text, settings, timeout), cpus
        self._id = uuid.uuid4().hex[:12]
        self._hosts: Dict[str, Any] = {}

    def host(self, node: str) -> Any:
        if node not in self._hosts:
            options = {"num_cpus": self._cpus, "max_restarts": _RESTARTS,
                       "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}
            folder = f"/tmp/echoline-ray-{self._id}-{node[:12]}"
            self._hosts[node] = ray.remote(_Host).options(**options).remote(folder, *self._arguments)
        return self._hosts[node]

    def stop(self) -> None:
        if not self._hosts:
            return
        stops = [host.stop.remote() for host in self._hosts.values()]
        ray.wait(stops, num_returns=len(stops), timeout=_STOP_SECONDS)
        for host in self._hosts.values():
            ray.kill(host)
        self._hosts.clear()


class Daemons:
    """One daemon of the same configuration on each node where a loader is made; they end with the driver.

    Create it in the driver and give it to workers, for example in `train_loop_config`: it can be pickled.

    `config`: as of echoline.serve. A file is read here. Addresses and paths must be valid on every node.
    `settings`: as --set, for example {"daemon.workers": 8}.
    `cpus`: what Ray reserves for each daemon on its node.
    `timeout`: seconds until a daemon must be ready, its index included.

    A daemon that dies is started again, at most five times, and its trainers continue with their next batch.
    InvalidArgument: the file cannot be read, or `cpus` is negative.
    """

    def __init__(self, config: Configuration, settings: Optional[Mapping[str, Any]] = None, cpus: float = 0,
                 timeout: float = 600) -> None:
        if cpus < 0:
            raise InvalidArgument(f"cpus must not be negative: {cpus}")
        text = configuration_text(config)
        self._lanes, self._timeout = _lanes_of(text), timeout
        self._starter = ray.remote(_Starter).options(num_cpus=0).remote(text, dict(settings or {}), timeout, cpus)

    def runtime_dir(self) -> str:
        """The folder of this node's daemon, which is started if necessary.

        Error: the daemon does not start; the text has its log. TimeoutError: Ray finds no room for it, or it is not ready.
        """
        node = ray.get_runtime_context().get_node_id()
        try:
            host = ray.get(self._starter.host.remote(node))
            # Ray needs time of its own to start a process.
            folder, failure = ray.get(host.state.remote(), timeout=self._timeout + 60)
        except ray.exceptions.GetTimeoutError as error:
            raise TimeoutError(f"the daemon of node {node} is not ready within {self._timeout:g} s: has the node as many "
                               "free CPUs as `cpus`?") from error
        except ray.exceptions.RayError as error:
            raise Error(f"the daemon of node {node} does not run: {error}") from error
        if failure:
            raise Error(f"the daemon of node {node} did not start: {failure}")
        return folder

    def loader(self, stream: str = DEFAULT_STREAM, place: Optional[Place] = None,
               loader_type: Callable[..., Any] = Loader, **arguments: Any) -> Any:
        """A loader of this rank on this node's daemon.

        `place`: default: that of this worker of Ray Train. `loader_type`: for example echoline.torch.Loader. `arguments`
        are those of the loader, except rank, world_size, local_world_size and runtime_dir.

        FailedPrecondition: neither a place nor a worker of Ray Train. Otherwise as runtime_dir() and the loader.
        """
        place = place or place_in_train()
        lanes = self._lanes.get(stream, 1)
        if place.local_rank == 0 and not place.reads_alone(lanes):
            _log.warning("stream %s: with lanes: %d and %d of %d ranks here, other nodes read the same data; make lanes a "
                         "multiple of the number of nodes", stream, lanes, place.local_world_size, place.world_size)
        return loader_type(stream, rank=place.rank, world_size=place.world_size, local_world_size=place.local_world_size,
                           runtime_dir=self.runtime_dir(), **arguments)

    def stop(self) -> None:
        """Stops all daemons. Loaders that are still attached end with DaemonGone. A second call does nothing."""
        with contextlib.suppress(ray.exceptions.RayActorError):
            ray.get(self._starter.stop.remote(), timeout=2 * _STOP_SECONDS)
            ray.kill(self._starter)

    def __enter__(self) -> "Daemons":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _lanes_of(text: str) -> Dict[str, int]:
    """The lanes of each stream; what is wrong in the text is for the daemon to say."""
    try:
        streams = yaml.safe_load(text)["streams"]
        return {name: int(stream.get("lanes", 1)) for name, stream in streams.items()}
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError):
        return {}
