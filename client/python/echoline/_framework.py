"""Base of the loaders for torch and JAX: converts the batches of another loader to those of the framework."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from . import cuda
from ._errors import FailedPrecondition, InvalidArgument
from ._loader import Loader as NumpyLoader

UNAVAILABLE = 7  # echoline_status

#: What `fields` can name besides the stream's own fields, which take precedence.
ROW_FACTS = ("sample_ids", "uses", "flags", "valid")

_GPU_OPTIONS = ("depth", "echo", "transforms", "pad")
_Self = TypeVar("_Self", bound="FrameworkLoader")


def refuse_gpu_options(options: Mapping[str, Any]) -> None:
    """Raises InvalidArgument for options that only loaders on a GPU have."""
    for name in _GPU_OPTIONS:
        if name in options:
            raise InvalidArgument(f"{name} is for GPUs: add device='cuda'")


class FrameworkLoader(ABC):
    """Owns `loader`; closes it if `fields` is refused.

    KeyError: a name in `fields` is neither a field of the stream nor one of ROW_FACTS. InvalidArgument: the stream fills
    its last batch with repeats, and `fields` lacks "valid", which marks them.
    """

    def __init__(self, loader: Union[NumpyLoader, cuda.Loader], fields: Optional[Sequence[str]]) -> None:
        self._loader = loader
        self._tuple = None if fields is None else tuple(fields)
        known = loader.fields
        self._names = tuple(known) if self._tuple is None else tuple(name for name in self._tuple if name in known)
        try:
            self._check_fields(known)
        except BaseException:
            loader.close()
            raise

    def _check_fields(self, known: Mapping[str, Any]) -> None:
        if self._tuple is None:
            return
        for name in self._tuple:
            if name not in known and name not in ROW_FACTS:
                raise KeyError(f"no field {name!r}; there are: {', '.join((*known, *ROW_FACTS))}")
        if self._loader.last == "pad" and "valid" not in self._tuple:
            raise InvalidArgument("the stream fills its last batch with repeats (batch.last: pad), which a tuple does not "
                                  'mark: add "valid" to fields, or leave fields out')

    @abstractmethod
    def _make(self, batch: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """Converts these fields of a batch."""

    def _convert(self, batch: Any) -> Any:
        made = self._make(batch, self._names)
        if self._tuple is None:
            return made
        if made.valid_rows < made.rows and "valid" not in self._tuple:
            # With batch.last: partial, a last batch with fewer rows than ranks is filled, too.
            raise FailedPrecondition(f"{made.rows - made.valid_rows} of the {made.rows} rows of this rank's last batch are "
                                     'repeats, which a tuple does not mark: add "valid" to fields')
        return tuple(made[name] if name in made else getattr(made, name) for name in self._tuple)

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

    def __repr__(self) -> str:
        returns = "dicts" if self._tuple is None else f"tuples of {', '.join(self._tuple)}"
        return f"{type(self).__module__}.{self._loader!r}, giving {returns}"

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loader.close()
