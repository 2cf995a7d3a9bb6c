"""The compiled module; its functions raise the exceptions of _errors.py."""
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Tuple, Union

from ._batch import Batch as PackageBatch
from ._batch import Field, Value

def version() -> str: ...
def runtime_dir() -> str:
    """The folder in which a loader without a runtime_dir finds its daemon."""

def explain_faults() -> None:
    """From now on, a fault on the memory of a batch is explained on stderr before it ends the process."""

def refuse_pickle() -> NoReturn: ...

class Memory:
    """Read-only memory of a batch, for numpy.asarray. It keeps the batch."""

    __array_struct__: Any

class Batch:
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    bucket_length: int
    is_last: bool
    _fields: Dict[str, Field]
    _arrays: Dict[str, Any]
    _has_lease: bool

    def __new__(cls, epoch: int, step: int, rows: int, valid_rows: int, fresh: int, bucket_length: int, is_last: bool,
                fields: Dict[str, Field], arrays: Dict[str, Value]) -> "Batch": ...
    def __init__(self, *arguments: Any) -> None: ...
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
        """Returns when the loader is attached."""

    def _log_news(self, news: str) -> None:
        """The subclass implements it; called with each message of the daemon about other ranks."""

    def _close(self) -> None: ...
    def _skip(self, steps: int) -> None: ...
    def _report(self, losses: bytes, uses: bytes) -> int: ...
    def _state(self) -> str: ...
    def _info(self) -> Dict[str, Any]: ...
    def _field(self, number: int) -> Tuple[str, str, Tuple[int, ...], bool]:
        """Name, name of the type, shape of one row, whether rows have different lengths."""

class Epoch:
    """Yields the results of `next` until it returns None; keeps no reference to them."""

    def __new__(cls, next: Callable[[], Optional[Any]]) -> "Epoch": ...
    def __iter__(self) -> "Epoch": ...
    def __next__(self) -> Any: ...

class DeviceTensor:
    """Row-major memory on a GPU. As long as it exists, the loader does not reuse the memory."""

    shape: Tuple[int, ...]
    dtype: str
    device: int
    pointer: int
    __cuda_array_interface__: Dict[str, Any]

    def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def _bytes(self) -> Any:
        """A DLPack capsule of the memory as uint8."""

class DeviceBatch:
    epoch: int
    step: int
    rows: int
    valid_rows: int
    fresh: int
    bucket_length: int
    is_last: bool
    device: int
    _fields: Dict[str, int]

    def wait(self, stream: Optional[int]) -> None: ...
    def release(self, stream: Optional[int] = None) -> None: ...
    def _tensor(self, number: int) -> Union[DeviceTensor, Tuple[DeviceTensor, DeviceTensor]]: ...
    def _sample_ids(self) -> bytes: ...
    def _uses(self) -> bytes: ...
    def _flags(self) -> bytes: ...

class DeviceLoader:
    def __new__(cls, loader: Loader, batch_type: type, fields: Dict[str, int], device: int, depth: int, factor: int,
                window: int, field_options: List[Tuple[Any, ...]]) -> "DeviceLoader":
        """`field_options`: (name, dtype, layout, flip, padded, fill, means, deviations), as in echoline_cuda_field."""

    def next(self, stream: int, timeout: Optional[float]) -> Optional[Any]: ...
    def begin_epoch(self) -> None: ...
    def state(self) -> str: ...
    def stats(self) -> Dict[str, Any]: ...
    def close(self) -> None: ...
