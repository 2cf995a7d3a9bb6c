"""Configurations that a program gives: the path of a file, or its content in Python."""
from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Mapping
from typing import Any, Callable, List, NamedTuple, Sequence, TypeVar, Union, cast

from ._errors import InvalidArgument
from ._processes import refuse_in_worker

#: Path of a YAML file; a dict with its content; a dict of one stream (with `pipeline`); or the list of its steps, as
#: echoline.steps makes them.
Configuration = Union[str, "os.PathLike[str]", Mapping, Sequence[Mapping]]

DEFAULT_STREAM = "train"

_Init = TypeVar("_Init", bound=Callable[..., None])


def is_configuration(value: Any) -> bool:
    """Whether a first argument is a configuration and not the name of a stream."""
    if isinstance(value, str):
        return value.endswith((".yaml", ".yml"))
    return isinstance(value, (Mapping, list, tuple, os.PathLike))


def configuration_first(init: _Init) -> _Init:
    """Lets __init__(stream, ...) also be called as (configuration, stream, ...): the configuration becomes `config`."""
    @functools.wraps(init)
    def either(self: Any, *args: Any, **rest: Any) -> None:
        refuse_in_worker()
        if args and is_configuration(args[0]):
            if "config" in rest:
                raise InvalidArgument("the configuration is given twice: as the first argument and as config")
            name = args[1:2] or (rest.pop("stream", DEFAULT_STREAM),)
            args, rest["config"] = (*name, *args[2:]), args[0]
        init(self, *args, **rest)
    return cast(_Init, either)


def _plain(value: Any) -> Any:
    """Values that JSON does not know: paths, and the numbers and arrays of numpy."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InvalidArgument(f"a configuration has texts, numbers, lists and dicts, not {type(value).__name__}: {value!r}")


def _flow(value: Any) -> str:
    """JSON, which YAML understands."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InvalidArgument(f"the configuration can't be written: {error}") from error


class _Line(NamedTuple):
    text: str
    place: str  # what it is to the user: "daemon.memory", or "step 3 (resize)"


def _name_of(step: Any) -> str:
    return next(iter(step), "") if isinstance(step, Mapping) else str(step)


def _lines(key: str, value: Any, indent: str = "", outer: str = "") -> List[_Line]:
    """One line for each step. `outer`: the place of what the key is in."""
    place = f"{outer}.{key}" if outer else key
    if key == "pipeline" and isinstance(value, (list, tuple)) and value:
        prefix = f"{outer}: " if outer else ""
        steps = [_Line(f"{indent}- {_flow(step)}", f"{prefix}step {number} ({_name_of(step)})")
                 for number, step in enumerate(value, 1)]
        return [_Line(f"{indent}{_flow(key)}:", place), *steps]
    if isinstance(value, Mapping) and value:
        inner = [line for name, one in value.items() for line in _lines(str(name), one, indent + "  ", place)]
        return [_Line(f"{indent}{_flow(key)}:", place), *inner]
    return [_Line(f"{indent}{_flow(key)}: {_flow(value)}", place)]


def _all_lines(config: Union[Mapping, Sequence[Mapping]], stream: str) -> List[_Line]:
    if not isinstance(config, Mapping):
        config = {"pipeline": list(config)}
    if "pipeline" in config:
        # Its name is not the user's.
        inner = [line for name, one in config.items() for line in _lines(str(name), one, "    ")]
        return [_Line('"streams":', "streams"), _Line(f"  {_flow(stream)}:", "the stream"), *inner]
    return [line for name, one in config.items() for line in _lines(str(name), one)]


def _place_in(lines: List[_Line], line: int, column: int) -> str:
    """The place of a line and column, which count from 1."""
    # A list begins at its first dash; its key is in the line above.
    begins_list = lines[line - 1].text[:column].strip() == "-"
    return lines[line - (2 if begins_list else 1)].place


def in_terms_of(config: Configuration, log: str, copy: str, stream: str = DEFAULT_STREAM) -> str:
    """A daemon's log that names what the user gave, a file or a step in Python, and not the copy of it for the daemon."""
    if isinstance(config, (str, os.PathLike)):
        return log.replace(copy, os.fspath(config))
    if copy in log:
        lines = _all_lines(config, stream)
        log = re.sub(re.escape(copy) + r":(\d+):(\d+)", lambda at: _place_in(lines, int(at[1]), int(at[2])), log)
    return log.replace(copy, "the configuration")


def code_of(text: str) -> str:
    """The text of the users' Python that a configuration names: daemons read it when they start."""
    found = []
    for _, quoted, plain in re.findall(r"""\bfile["']?\s*:\s*(?:(["'])(.+?\.py)\1|([^\s"',{}]+\.py)\b)""", text):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            with open(quoted or plain, encoding="utf-8") as file:
                found.append(file.read())
    return "\0".join(found)


def configuration_text(config: Configuration, stream: str = DEFAULT_STREAM) -> str:
    """The text of the configuration file. `stream` is the name for a configuration of one stream."""
    if isinstance(config, (str, os.PathLike)):
        try:
            with open(config, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"configuration {os.fspath(config)}: {error}") from error
    return "".join(line.text + "\n" for line in _all_lines(config, stream))
