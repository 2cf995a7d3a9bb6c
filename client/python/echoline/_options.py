"""The arguments of loaders by name, for type checkers of code that passes them on. A test compares them with the loaders."""
from __future__ import annotations

import os
from typing import Any, Literal, Mapping, Optional, Tuple, TypedDict, Union

from ._configuration import Configuration

_Time = Union[str, int, float]


class LoaderOptions(TypedDict, total=False):
    """Those of echoline.Loader."""

    job: str
    rank: int
    world_size: int
    batch_size: Optional[int]
    join: Literal["start", "current", "next_epoch"]
    reattach: _Time
    runtime_dir: Union[str, "os.PathLike[str]", None]
    state: Optional[Mapping[str, Any]]
    expect: Optional[str]
    local_world_size: Optional[int]
    config: Optional[Configuration]
    wait: Optional[_Time]
    writable: bool


class FrameworkOptions(LoaderOptions, total=False):
    """Those, and the ones of echoline.cuda.Loader that loaders of frameworks pass on."""

    depth: int
    echo: Union[int, Tuple[int, int]]
    transforms: Optional[Mapping[str, Any]]
    pad: Optional[Mapping[str, float]]
