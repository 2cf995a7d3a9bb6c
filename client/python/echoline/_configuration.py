"""Configurations that a program gives: the path of a file, or its content in Python."""
from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import re
from collections.abc import Mapping
from typing import Any, Callable, List, Sequence, TypeVar, Union, cast

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


def _lines(key: str, value: Any, indent: str) -> List[str]:
    """One line for each step, so that the line number of an error names the step."""
    if key == "pipeline" and isinstance(value, (list, tuple)) and value:
        return [f"{indent}{_flow(key)}:", *(f"{indent}- {_flow(step)}" for step in value)]
    if isinstance(value, Mapping) and value:
        inner = [line for name, one in value.items() for line in _lines(str(name), one, indent + "  ")]
        return [f"{indent}{_flow(key)}:", *inner]
    return [f"{indent}{_flow(key)}: {_flow(value)}"]


def _column(line: str) -> int:
    return len(line) - len(line.lstrip())


def _place_in(text: str, line: int, column: int) -> str:
    """What is at a place of a text of configuration_text(): "step 3 (resize)" or "daemon.memory". Both count from 1."""
    lines = text.split("\n")[:line]
    steps = list(itertools.takewhile(lambda above: above.lstrip().startswith("- "), reversed(lines)))
    if steps and column == _column(lines[-1]) + 1:  # the list itself, whose key is in the same column
        lines, steps = lines[:-len(steps)], []
    outer = _column(lines[-1]) + (0 if steps else 1)
    keys: List[str] = []
    for above in reversed(lines):
        if _column(above) < outer:
            outer = _column(above)
            keys.insert(0, json.JSONDecoder().raw_decode(above.lstrip())[0])
    # A configuration of one stream has no name of a user's.
    if text.startswith('"streams":') and len(re.findall('^  "', text, re.MULTILINE)) == 1:
        keys = keys[2:]
    if steps:
        step = json.loads(steps[0].lstrip()[2:])
        name = next(iter(step), "") if isinstance(step, dict) else step
        return ": ".join([".".join(keys)] * bool(keys) + [f"step {len(steps)} ({name})"])
    return ".".join(keys)


def in_terms_of(config: Configuration, log: str, copy: str, stream: str = DEFAULT_STREAM) -> str:
    """A daemon's log that names what the user gave, a file or a step in Python, and not the copy of it for the daemon."""
    if isinstance(config, (str, os.PathLike)):
        return log.replace(copy, os.fspath(config))
    if copy in log:
        text = configuration_text(config, stream)
        log = re.sub(re.escape(copy) + r":(\d+):(\d+)", lambda at: _place_in(text, int(at[1]), int(at[2])), log)
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
    if not isinstance(config, Mapping):
        config = {"pipeline": list(config)}
    if "pipeline" in config:
        config = {"streams": {stream: config}}
    return "".join(line + "\n" for name, one in config.items() for line in _lines(str(name), one, ""))
