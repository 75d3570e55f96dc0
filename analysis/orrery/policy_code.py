"""Finds the class of a Python policy and the points of the class, and reads its arguments, for the adapter in
C++."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
import sys
import traceback
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, get_args, get_origin

from orrery import policy
from orrery.policy import Arg, Duration, Policy

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9,
         "d": 86400 * 10**9}
NAMES = {int: "integer", float: "number", bool: "true or false", str: "text", Duration: "duration"}
OWN = ("file", "class", "timeout")  # arguments of every policy in Python, which its class does not declare

_modules: dict[tuple[str, bytes], ModuleType] = {}


class CodeError(Exception):
    """The code cannot be used; the text is a message for its author."""


class CallTooLong(BaseException):
    """Raised by the adapter in a call that takes too long; `except Exception` does not catch it."""

    def __str__(self) -> str:
        return "the call takes longer than `timeout` of host time"


def traceback_text(error: BaseException) -> str:
    """Python's traceback of an error, without the frames of the adapter."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    while frames and "importlib" in frames.tb_frame.f_code.co_filename:
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames)).rstrip()
    if isinstance(error, AttributeError) and error.name and "did you mean" not in text.lower():
        text += near(error.name, dir(error.obj))
    return text


def module_of(file: str) -> ModuleType:
    """The module of a file. The file is executed once, and again only if its text has changed."""
    path = Path(file)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise CodeError(f"cannot be read: {error.strerror}") from error
    key = (str(path.resolve()), text)
    if key in _modules:
        return _modules[key]
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"orrery_policy_{len(_modules)}_{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}"
    loader = importlib.util.spec_from_loader(name, loader=None)
    assert loader is not None
    module = importlib.util.module_from_spec(loader)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    except BaseException as error:
        raise CodeError(traceback_text(error)) from error
    _modules[key] = module
    return module


def near(name: str, known: Any) -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{found[0]}'?" if found else ""


def _name(method: str) -> str:
    return method.split("(")[0]


POINTS = {point: tuple(map(_name, methods)) for point, methods in policy.POINTS.items()}
CALLS = {_name(call): call for call in [*(c for calls in policy.POINTS.values() for c in calls), *policy.BESIDE]}


KINDS = {point: kind for kind, points in {"jobs": ("QueueOrder", "Admit", "Plan", "JobWatcher"),
                                          "controllers": ("Controller",)}.items() for point in points}


def _wrong_call(found: type[Policy], name: str, call: str) -> str:
    """A message if the method does not take the arguments of `call`; else an empty text."""
    given = [one for one in call[len(name) + 1:-1].split(", ") if one]
    if not isinstance(inspect.getattr_static(found, name), (staticmethod, classmethod)):
        given.insert(0, "self")
    try:
        signature = inspect.signature(getattr(found, name))
        signature.bind(*given)
    except ValueError:  # some methods in C have no known signature
        return ""
    except TypeError:
        return f"{found.__name__}.{name}{signature} must take ({', '.join(given)})"
    return ""


def _check_calls(found: type[Policy]) -> None:
    """Raises CodeError if __init__ needs arguments, or if each kind of policy that the class implements
    (pods, job queue, controller) has a method with wrong arguments. If all methods of one kind are
    right, wrong methods of the other kinds are taken for helpers that only share a name with a method."""
    wrong: dict[str, list[str]] = {}
    for point in points_of(found):
        methods = [m for m in POINTS[point] if callable(getattr(found, m, None))]
        mistakes = [why for m in methods if (why := _wrong_call(found, m, CALLS[m]))]
        wrong.setdefault(KINDS.get(point, "pods"), []).extend(mistakes)
    if wrong and all(wrong.values()):
        raise CodeError(next(iter(wrong.values()))[0])
    if why := _wrong_call(found, "__init__", "__init__()"):
        raise CodeError(why + "; what `args` declares is in self.args")


def class_of(file: str, name: str) -> type[Policy]:
    """The class called `name`; without a name, the only policy of the file."""
    module = module_of(file)
    own = {key: value for key, value in vars(module).items()
           if inspect.isclass(value) and issubclass(value, Policy) and value.__module__ == module.__name__}
    if not name:
        if len(own) != 1:
            raise CodeError(f"has {len(own)} classes that inherit orrery.policy.Policy, so `class` must "
                            "name one" + (": " + ", ".join(own) if own else ""))
        name = next(iter(own))
    found = getattr(module, name, None)
    if found is None:
        raise CodeError(f"has no class '{name}'" + near(name, own))
    if not inspect.isclass(found) or not issubclass(found, Policy):
        raise CodeError(f"'{name}' does not inherit orrery.policy.Policy")
    for key, arg in found.args.items():
        if not isinstance(arg, Arg) or not _is_known(arg.type):
            raise CodeError(f"{name}.args['{key}'] must be an Arg of int, float, bool, str, Duration, "
                            "or a list or dict[str, ...] of one")
        if key in OWN:
            raise CodeError(f"{name}.args must not name '{key}', which every policy in Python has")
    if not points_of(found):
        methods = [m for ms in POINTS.values() for m in ms if m not in policy.OPTIONAL]
        own_methods = [key for key, value in vars(found).items()
                       if inspect.isfunction(value) and not key.startswith("_")]
        hint = next((h for m in own_methods if (h := near(m, methods))), "")
        raise CodeError(f"{name} serves no point: it has none of the methods " + ", ".join(methods) + hint)
    _check_calls(found)
    return found


def points_of(found: type[Policy]) -> list[str]:
    return [point for point, methods in POINTS.items()
            if any(callable(getattr(found, m, None)) for m in methods if m not in policy.OPTIONAL)]


def methods_of(found: type[Policy]) -> list[str]:
    return [m for m in CALLS if callable(getattr(found, m, None))]


def files_of(file: str) -> list[str]:
    """The path of the file, and the paths of imported modules from the same folder or folders in it."""
    folder = str(Path(file).resolve().parent) + "/"
    beside = {str(Path(m.__file__).resolve()) for m in list(sys.modules.values())
              if getattr(m, "__file__", None) and not m.__name__.startswith("orrery_policy_")}
    return [file, *sorted(path for path in beside if path.startswith(folder))]


# ---- arguments. A value from a scenario is None, a tuple (text, whether the text was quoted), a list or a dict.


def _is_known(kind: Any) -> bool:
    inner = get_args(kind)
    if get_origin(kind) is list:
        return len(inner) == 1 and inner[0] in NAMES
    if get_origin(kind) is dict:
        return len(inner) == 2 and inner[0] is str and inner[1] in NAMES
    return kind in NAMES


def type_text(kind: Any) -> str:
    if get_origin(kind) is list:
        return "list of " + NAMES[get_args(kind)[0]]
    if get_origin(kind) is dict:
        return "map of " + NAMES[get_args(kind)[1]]
    return NAMES[kind]


def _shown(given: Any) -> str:
    if given is None:
        return "nothing"
    if isinstance(given, tuple):
        return f"'{given[0]}'" + (" in quotes" if given[1] else "")
    return "a list" if isinstance(given, list) else "a map"


def duration_text(ns: int) -> str:
    unit = next(u for u in reversed(UNITS) if ns % UNITS[u] == 0)
    return f"{ns // UNITS[unit]}{unit}" if ns else "0s"


def _duration(text: str) -> int | None:
    parts = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*([a-z]+)", text)
    if text == "0":
        return 0
    if not parts or parts[2] not in UNITS:
        return None
    ns = Fraction(parts[1]) * UNITS[parts[2]]
    return int(ns) if ns.denominator == 1 and abs(ns) <= 3660 * UNITS["d"] else None


def _scalar(kind: Any, given: Any) -> Any:
    """The value of the type `kind`, or None if the text is not of this type."""
    if not isinstance(given, tuple):
        return None
    text, is_quoted = given
    if kind is str:
        return text
    if kind is Duration:
        return _duration(text)
    if is_quoted:
        return None
    if kind is bool:
        return {"true": True, "false": False}.get(text)
    if kind is int:
        return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,18})", text) else None
    is_number = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text)
    value = float(text) if is_number else None
    return value if value is not None and abs(value) != float("inf") else None


def range_text(arg: Arg) -> str:
    show = duration_text if arg.type is Duration else str
    unit = f" {arg.unit}" if arg.unit else ""
    if arg.minimum is not None and arg.maximum is not None:
        return f"between {show(arg.minimum)} and {show(arg.maximum)}{unit}"
    if arg.minimum is not None:
        return f"at least {show(arg.minimum)}{unit}"
    return f"at most {show(arg.maximum)}{unit}" if arg.maximum is not None else ""


def _one(arg: Arg, kind: Any, given: Any) -> tuple[Any, str]:
    """The value and an empty text; or None and a message about the mistake."""
    value = _scalar(kind, given)
    if value is None:
        what = {int: "an integer", float: "a finite number", Duration: "a duration such as 250us or 2h",
                bool: "true or false", str: "text"}[kind]
        return None, f"expected {what}, got {_shown(given)}"
    if arg.choices and value not in arg.choices:
        return None, (f"expected one of {', '.join(arg.choices)}, got {_shown(given)}"
                      + near(str(value), arg.choices))
    is_low = arg.minimum is not None and value < arg.minimum
    if is_low or (arg.maximum is not None and value > arg.maximum):
        return None, f"out of range: must be {range_text(arg)}, got {_shown(given)}"
    return value, ""


def _read(arg: Arg, given: Any) -> tuple[Any, str]:
    origin = get_origin(arg.type)
    if origin is None:
        return _one(arg, arg.type, given)
    if not isinstance(given, origin):
        return None, f"expected a {'list' if origin is list else 'map'}, got {_shown(given)}"
    kind = get_args(arg.type)[-1]
    items = given.items() if origin is dict else enumerate(given)
    values = {key: _one(arg, kind, item) for key, item in items}
    wrong = next((f"[{key}]: {why}" for key, (_, why) in values.items() if why), "")
    found = {key: value for key, (value, _) in values.items()}
    return (found if origin is dict else list(found.values())), wrong


def read_args(found: type[Policy], given: dict[str, Any]) -> tuple[SimpleNamespace, list[tuple[str, str, bool]]]:
    """The values of the arguments, and the mistakes: for each the argument, the message, and whether the key
    itself is wrong."""
    values, mistakes = SimpleNamespace(), []
    for key in given:
        if key not in found.args and key not in OWN:
            mistakes.append((key, f"unknown key '{key}'" + near(key, [*found.args, *OWN]), True))
    for key, arg in found.args.items():
        if key not in given:
            setattr(values, key, arg.default)
            if arg.required:
                mistakes.append((key, f"missing required key '{key}'", True))
            continue
        value, why = _read(arg, given[key])
        setattr(values, key, value)
        if why:
            mistakes.append((key, why, False))
    return values, mistakes


def described(found: type[Policy]) -> tuple[str, list[dict[str, str]]]:
    """The first paragraph about the class, and a row of texts about each argument."""
    rows = []
    for key, arg in found.args.items():
        show = duration_text if arg.type is Duration else (lambda v: str(v).lower() if isinstance(v, bool) else str(v))
        rows.append({"name": key, "type": type_text(arg.type) + (" " + " | ".join(arg.choices) if arg.choices else ""),
                     "default": "" if arg.required or arg.default is None else show(arg.default),
                     "range": range_text(arg), "unit": arg.unit, "doc": arg.doc,
                     "required": "yes" if arg.required else ""})
    return (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " "), rows


def made(found: type[Policy], args: SimpleNamespace, lent: dict[str, Any]) -> Policy:
    """An instance that has `args` and the attributes in `lent` before its own __init__ runs."""
    policy_made = found.__new__(found)
    policy_made.args = args
    for name, value in lent.items():
        setattr(policy_made, name, value)
    policy_made.__init__()
    return policy_made
