"""Base of the loaders for torch and JAX: converts the batches of another loader to those of the framework."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from . import cuda
from ._errors import InvalidArgument
from ._loader import Loader as NumpyLoader

UNAVAILABLE = 7  # echoline_status

_GPU_OPTIONS = ("depth", "echo", "transforms", "pad")
_Self = TypeVar("_Self", bound="FrameworkLoader")


def refuse_gpu_options(options: Mapping[str, Any]) -> None:
    """Raises InvalidArgument for options that only loaders on a GPU have."""
    for name in _GPU_OPTIONS:
        if name in options:
            raise InvalidArgument(f"{name} is for GPUs: add device='cuda'")


class FrameworkLoader(ABC):
    """Owns `loader`; closes it and raises KeyError if a name in `fields` is not one of its fields."""

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
        """Converts these fields of a batch."""

    def _convert(self, batch: Any) -> Any:
        made = self._make(batch, self._names)
        return made if self._tuple is None else tuple(made[name] for name in self._names)

    def __iter__(self) -> Iterator[Any]:
        # Not a generator: its variables would hold a batch while the trainer works on it.
        return map(self._convert, self._loader)

    def next(self, timeout: Optional[float] = None) -> Any:
        """The next batch, as in the loop; None at the end of an epoch.

        Raises TimeoutError if no batch was ready within `timeout` seconds.
        """
        batch = self._loader.next(timeout)
        return None if batch is None else self._convert(batch)

    def __len__(self) -> int:
        return len(self._loader)

    def state_dict(self) -> Dict[str, Any]:
        """The position after the batches that were returned."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues with exactly the batch after the state."""
        self._loader.load_state_dict(state_dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loader.close()
