"""What the loaders for torch and for JAX share: the batches of another loader, each made into the framework's own."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from . import cuda
from ._errors import InvalidArgument
from ._loader import Loader as NumpyLoader

UNAVAILABLE = 7  # echoline_status

_OF_A_GPU = ("depth", "echo", "transforms", "pad")
_Self = TypeVar("_Self", bound="FrameworkLoader")


def refuse_gpu_options(options: Mapping[str, Any]) -> None:
    """InvalidArgument for what only loaders on a GPU take."""
    for name in _OF_A_GPU:
        if name in options:
            raise InvalidArgument(f"{name} is for GPUs: add device='cuda'")


class FrameworkLoader(ABC):
    """Takes over `loader`, and closes it where a name in `fields` is none of its fields."""

    def __init__(self, loader: Union[NumpyLoader, cuda.Loader], fields: Optional[Sequence[str]]) -> None:
        self._loader = loader
        self._tuple = None if fields is None else tuple(fields)
        known = loader.fields
        self._names = self._tuple or tuple(known)
        for name in self._tuple or ():
            if name not in known:
                loader.close()
                raise KeyError(f"no field {name!r}; there are: {', '.join(known)}")

    @abstractmethod
    def _make(self, batch: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """The framework's batch of these fields."""

    def _give(self, batch: Any) -> Any:
        made = self._make(batch, self._names)
        return made if self._tuple is None else tuple(made[name] for name in self._names)

    def __iter__(self) -> Iterator[Any]:
        # Not a generator: its variables would hold a batch while the trainer works on it.
        return map(self._give, self._loader)

    def next(self, timeout: Optional[float] = None) -> Any:
        """As of the loop; None at an epoch's end, TimeoutError if none was ready within `timeout` seconds."""
        batch = self._loader.next(timeout)
        return None if batch is None else self._give(batch)

    def __len__(self) -> int:
        return len(self._loader)

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on with exactly the batch after the state."""
        self._loader.load_state_dict(state_dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loader.close()
