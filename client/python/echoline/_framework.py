"""Base of the loaders for torch and JAX: converts the batches of another loader to those of the framework."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

from . import cuda
from ._ahead import Ahead
from ._errors import FailedPrecondition, InvalidArgument
from ._library import native
from ._loader import Loader as NumpyLoader
from ._mix import Mix

UNAVAILABLE = 7  # echoline_status

#: What `fields` can name besides the stream's own fields, which take precedence.
ROW_FACTS = ("sample_ids", "uses", "flags", "valid")

#: The names of a tuple; or the names in the stream, each with the one that a dict has for it.
Fields = Union[Sequence[str], Mapping[str, str]]

_GPU_OPTIONS = ("depth", "echo", "transforms", "pad")
Item = TypeVar("Item")  # what a loop gives
_Self = TypeVar("_Self", bound="FrameworkLoader[Any]")


def host_options(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options of a loader on the CPU. Raises InvalidArgument for those that only loaders on a GPU have."""
    for name in _GPU_OPTIONS:
        if name in options:
            raise InvalidArgument(f"{name} is for GPUs: add device='cuda'")
    return dict(options)


def gpu_options(options: Mapping[str, Any], collate: Any) -> Dict[str, Any]:
    """The options of a loader on a GPU: with one buffer more if the mix holds the next batch, too."""
    return {"depth": 4, **options} if isinstance(collate, Mix) and collate.needs_next else dict(options)


class FrameworkLoader(ABC, Generic[Item]):
    """Owns `loader`; closes it if `fields` is refused.

    KeyError: a name in `fields` is neither a field of the stream nor one of ROW_FACTS. InvalidArgument: the stream fills
    its last batch with repeats, and a tuple lacks "valid", which marks them.
    """

    # Of the inner loader.
    batch_size: int
    epoch: int
    fingerprint: str
    fresh_per_epoch: int
    last: str
    rows_per_epoch: int
    seed: int

    def __init__(self, loader: Union[NumpyLoader, cuda.Loader], fields: Optional[Fields],
                 collate: Optional[Callable[[Any], Item]]) -> None:
        # A mix works on the fields of the stream and needs the place of the batch, which a tuple does not have.
        self._mix: Optional[Mix] = collate if isinstance(collate, Mix) else None
        self._collate: Optional[Callable[[Any], Item]] = None if isinstance(collate, Mix) else collate
        self._loader = Ahead(loader) if self._mix is not None and self._mix.needs_next else loader
        self._seed, self._rank = loader.seed, loader.rank
        self._renamed = dict(fields) if isinstance(fields, Mapping) else None
        self._tuple = None if fields is None or self._renamed is not None else tuple(fields)
        known = loader.fields
        self._names = tuple(known if fields is None else (name for name in fields if name in known))
        try:
            self._check_fields(fields or (), known)
        except BaseException:
            loader.close()
            raise

    def _check_fields(self, fields: Fields, known: Mapping[str, Any]) -> None:
        for name in fields:
            if name not in known and name not in ROW_FACTS:
                raise KeyError(f"no field {name!r}; there are: {', '.join((*known, *ROW_FACTS))}")
        for name in () if self._mix is None else self._mix.fields:
            if name not in self._names:
                raise KeyError(f"{self._mix!r} needs field {name!r}; there are: {', '.join(self._names)}")
        if self._loader.last == "pad" and self._tuple is not None and "valid" not in self._tuple:
            raise InvalidArgument("the stream fills its last batch with repeats (batch.last: pad), which a tuple does not "
                                  'mark: add "valid" to fields, or leave fields out')

    @abstractmethod
    def _make(self, batch: Any, names: Sequence[str]) -> Any:
        """Converts these fields of a batch to a dict, which has the properties of the batch."""

    def _made(self, batch: Any) -> Any:
        made = self._make(batch, self._names)
        made.seed, made.rank = self._seed, self._rank
        return made

    def _convert(self, batch: Any) -> Item:
        made = self._made(batch)
        return self._shape(made if self._mix is None else self._mix.mix_pair(made, None))

    def _shape(self, made: Any) -> Item:
        if self._tuple is not None:
            made = self._to_tuple(made, self._tuple)
        elif self._renamed is not None:
            values = {new: _value(made, name) for name, new in self._renamed.items()}
            made.clear()
            made.update(values)
        return made if self._collate is None else self._collate(made)

    @staticmethod
    def _to_tuple(made: Any, names: Sequence[str]) -> Any:
        if made.valid_rows < made.rows and "valid" not in names:
            # With batch.last: partial, a last batch with fewer rows than ranks is filled, too.
            raise FailedPrecondition(f"{made.rows - made.valid_rows} of the {made.rows} rows of this rank's last batch are "
                                     'repeats, which a tuple does not mark: add "valid" to fields')
        return tuple(_value(made, name) for name in names)

    def __iter__(self) -> Iterator[Item]:
        # Not a generator: its variables would hold a batch while the trainer works on it.
        if isinstance(self._loader, Ahead):
            self._loader.begin_epoch()
            return native.Epoch(self.next)
        return map(self._convert, self._loader)

    def next(self, timeout: Optional[float] = None) -> Optional[Item]:
        """The next batch, as in the loop; None at the end of an epoch.

        Raises TimeoutError if no batch was ready within `timeout` seconds.
        """
        if isinstance(self._loader, Ahead):
            pair = self._loader.next(self._made, timeout)
            return None if pair is None or self._mix is None else self._shape(self._mix.mix_pair(*pair))
        batch = self._loader.next(timeout)
        return None if batch is None else self._convert(batch)

    def __len__(self) -> int:
        return len(self._loader)

    def report(self, losses: Any, uses: Any) -> int:
        """As echoline.Loader.report."""
        return self._loader.report(losses, uses)

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

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self._loader) if not name.startswith("_"))})

    def __repr__(self) -> str:
        returns = "dicts" if self._renamed is None else f"dicts of {', '.join(self._renamed.values())}"
        if self._tuple is not None:
            returns = f"tuples of {', '.join(self._tuple)}"
        if self._mix is not None:
            returns = f"{returns}, mixed by {self._mix!r}"
        if self._collate is not None:
            returns = f"what {getattr(self._collate, '__name__', self._collate)} makes of {returns}"
        return f"{type(self).__module__}.{self._loader!r}, giving {returns}"

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loader.close()


def _value(made: Any, name: str) -> Any:
    """A field of the batch, or one of ROW_FACTS."""
    return made[name] if name in made else getattr(made, name)
