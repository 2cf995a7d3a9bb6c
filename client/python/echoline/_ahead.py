"""Takes batches one ahead of the trainer, for a mix whose partners are in the next batch."""
from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._errors import LeaseHeld

_HINT = ("; the mix holds the next batch, too, so a loop holds three: publish.slots (on a GPU depth) must be at least 3, and "
         "with 4 another one is prepared meanwhile")


class Ahead:
    """The loader `loader` of single batches, for the trainer at the position that it has been given.

    It holds the batch after the one that it gave, and never one of the next epoch.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._lock = threading.Lock()  # guards all below; waits for a batch are under it
        self._held: Optional[Any] = None  # converted, to be given next
        self._position: Optional[Dict[str, Any]] = None  # of that batch; None: that of the loader
        self._ended = False  # the end of the epoch is known, and not yet given
        self._begun = False  # a batch of the epoch was given

    def begin_epoch(self) -> None:
        """After a `break` gives up the rest of the epoch."""
        with self._lock:
            if self._held is None or self._begun:
                self._drop()
                iter(self._loader)
            self._ended = self._begun = False

    def next(self, make: Callable[[Any], Any], timeout: Optional[float]) -> Optional[Tuple[Any, Any]]:
        """A batch and the one after it, None at the end of an epoch, both as `make` converts them. None: the epoch is over."""
        deadline = None if timeout is None else time.monotonic() + timeout

        def left() -> Optional[float]:
            return None if deadline is None else max(0.0, deadline - time.monotonic())

        if not self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            raise TimeoutError(f"another thread waits for a batch longer than {timeout} s")
        try:
            return self._pair(make, left)
        finally:
            self._lock.release()

    def _pair(self, make: Callable[[Any], Any], left: Callable[[], Optional[float]]) -> Optional[Tuple[Any, Any]]:
        if self._held is None and not self._ended:
            self._position = self._loader.state_dict()
            self._held = self._take(make, left())
        if self._held is None:
            self._position, self._ended, self._begun = None, False, False
            return None
        batch, after, following = self._held, None, None
        if not batch.is_last:
            after = self._loader.state_dict()
            following = self._take(make, left())
            # Not every last batch is marked: the end can become known later.
            self._ended = following is None
        self._held, self._position, self._begun = following, None if following is None else after, True
        return batch, following

    def _take(self, make: Callable[[Any], Any], timeout: Optional[float]) -> Optional[Any]:
        try:
            batch = self._loader.next(timeout)
        except LeaseHeld as error:
            raise LeaseHeld(error.args[0] + _HINT, error.status) from None
        return None if batch is None else make(batch)

    def _drop(self) -> None:
        self._held = self._position = None

    def skip(self, steps: int) -> None:
        skip = self._loader.skip
        with self._lock:
            held = steps > 0 and self._held is not None
            if held:
                self._drop()
            skip(steps - held)

    def state_dict(self) -> Dict[str, Any]:
        return self._position or self._loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        with self._lock:
            self._drop()
            self._ended = self._begun = False
            self._loader.load_state_dict(state_dict)

    @property
    def epoch(self) -> int:
        return self._loader.epoch if self._position is None else self._position["epoch"]

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __dir__(self) -> List[str]:
        return dir(self._loader)

    def __repr__(self) -> str:
        return repr(self._loader)
