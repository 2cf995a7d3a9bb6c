"""What the compiled module has; its functions raise the exceptions of _errors.py."""
from typing import Any, Dict, Iterator, NoReturn, Optional, Tuple

from ._batch import Batch as PackageBatch
from ._batch import Field, Value

def version() -> str: ...
def runtime_dir() -> str:
    """Where a loader without a runtime_dir finds its daemon."""

def refuse_pickle() -> NoReturn: ...

class Memory:
    """Read-only memory of a batch, which it keeps; numpy makes an array of it."""

    __array_struct__: Any

class Batch:
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    is_last: bool
    _fields: Dict[str, Field]
    _arrays: Dict[str, Value]
    _has_lease: bool

    def __new__(cls, epoch: int, step: int, rows: int, valid_rows: int, fresh: int, is_last: bool,
                fields: Dict[str, Field], arrays: Dict[str, Value]) -> "Batch": ...
    def __getitem__(self, name: str) -> Value: ...
    def _sample_ids(self) -> Memory: ...
    def _uses(self) -> Memory: ...
    def _flags(self) -> Memory: ...

class Loader:
    _batch_type: type
    _fields: Dict[str, Field]
    _began: bool

    def __iter__(self) -> Iterator[PackageBatch]: ...
    def __len__(self) -> int: ...
    def next(self, timeout: Optional[float] = None) -> Optional[PackageBatch]: ...
    def _attach(self, stream: str, job: str, runtime_dir: bytes, rank: int, world_size: int,
                local_world_size: int, batch_size: int, join: int, reattach_ms: int, expect: Optional[str], state: Optional[str]) -> None:
        """Returns when the daemon has let it in."""

    def _hear(self, news: str) -> None:
        """Of the subclass: called with what the daemon says about other trainers."""

    def _close(self) -> None: ...
    def _skip(self, steps: int) -> None: ...
    def _state(self) -> str: ...
    def _info(self) -> Dict[str, Any]: ...
    def _field(self, number: int) -> Tuple[str, str, Tuple[int, ...], bool]:
        """Name, type's name, shape of one row, whether rows differ in length."""
