"""Daemons with caches, and their counters."""
import json

from support.daemon_process import Daemon
from support.programs import run_echoline, wait_until_still


class CachedDaemon(Daemon):
    """A daemon with metrics; reads those of caches."""

    def __init__(self, streams, **more):
        super().__init__(streams, metrics=True, **more)

    def cache_bytes_reserved(self):
        """What `echoline check` computes."""
        checked = run_echoline("check", self.config, "--json")
        return sum(stream["memory_bytes"]["cache"] for stream in json.loads(checked.stdout)["streams"].values())

    def store_bytes(self):
        return self.total("echoline_source_bytes_total")

    def hits(self, level):
        return self.total("echoline_cache_requests_total", level=level, outcome="hit")

    def misses(self, level):
        return self.total("echoline_cache_requests_total", level=level, outcome="miss")

    def failures(self, level, reason):
        return self.total("echoline_cache_failures_total", level=level, reason=reason)

    def settled(self, *figures):
        """The figures once they no longer change: the read-ahead is full, and so is the ring."""
        return wait_until_still(lambda: [figure() for figure in figures], "counters that stay the same")
