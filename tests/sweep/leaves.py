"""The leaves of the JSON Schema of a scenario, their extremes, and how to set them in a scenario."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
# A step of a path is a key, "[]" for an item of a list, "{}" for a value of a map, "<kind>" for one kind of a
# variant, or "?" for an optional value as a whole.
Path = tuple[str, ...]

INT64_MAX, UINT64_MAX = 2**63 - 1, 2**64 - 1
LARGEST = {"ns": f"{INT64_MAX}ns", "bps": f"{INT64_MAX}bps", "B": f"{INT64_MAX}B"}
USUAL = {"ns": "10s", "bps": "1Gbps", "B": "1MB"}
QUANTITY = r"-?[0-9.]+(?:e[+-][0-9]+|[a-zA-Z]+)?"
RANGE = re.compile(rf"(?:between ({QUANTITY}) and ({QUANTITY})|at least ({QUANTITY})"
                   rf"|at most ({QUANTITY}))")


@dataclass(frozen=True)
class Leaf:
    path: Path
    values: tuple[Any, ...]  # the extremes of the leaf

    @property
    def name(self) -> str:
        text = ""
        for step in self.path:
            text += step if step[0] in "[{<" else "." * bool(text) + step
        return text


class Schema:
    def __init__(self, root: Json) -> None:
        self.root = root

    def leaves(self) -> Iterator[Leaf]:
        yield from self._walk((), self.root)

    def part(self, path: Path) -> Json:
        """The schema at a path."""
        schema = self.root
        for step in path:
            schema = self._inner(schema, step)
        return schema

    def _inner(self, schema: Json, step: str) -> Json:
        schema = without_null(schema)
        if step == "[]":
            return schema["items"]
        if step == "{}":
            return schema["additionalProperties"]
        if step[0] == "<":
            return next(kind for kind in self.kinds(schema) if f"<{kind_name(kind)}>" == step)
        return schema["properties"][step]

    def kinds(self, schema: Json) -> list[Json]:
        """Kinds of a variant. A plugin and its args are one variant, with a kind for each plugin."""
        if "oneOf" in schema:
            return [kind for kind in schema["oneOf"] if kind != {"type": "null"}]
        return [{"properties": {"kind": {"const": rule["if"]["properties"]["name"]["const"]},
                                **rule["then"]["properties"]}}
                for rule in schema.get("allOf", []) if "properties" in rule["if"]]

    def _walk(self, path: Path, schema: Json, text: str = "") -> Iterator[Leaf]:
        text = schema.get("description", text)
        if schema.get("anyOf", [])[-1:] == [{"type": "null"}]:
            yield Leaf(path + ("?",), (None,))
        schema = without_null(schema)
        for kind in self.kinds(schema):
            inner = path + (f"<{kind_name(kind)}>",)
            for key, part in kind["properties"].items():
                if key != "kind":
                    yield from self._walk(inner + (key,), part)
        if "items" in schema:
            yield Leaf(path, ([],))
            yield from self._walk(path + ("[]",), schema["items"], text)
        elif isinstance(schema.get("additionalProperties"), dict):
            yield Leaf(path, ({},))
            yield from self._walk(path + ("{}",), schema["additionalProperties"], text)
        elif "properties" in schema:
            for key, part in schema["properties"].items():
                if path or key != "include":
                    yield from self._walk(path + (key,), part)
        elif values := extremes(schema, text):
            yield Leaf(path, values)

    def cost(self, document: Any, path: Path) -> int | None:
        """A number that grows with the values that the document lacks for the path; None if the document
        cannot have the path."""
        try:
            return self._put(document, self.root, path, None)[1]
        except LookupError:
            return None

    def with_value(self, document: Any, path: Path, value: Any) -> Any:
        return self._put(document, self.root, path, value)[0]

    def _put(self, part: Any, schema: Json, path: Path, value: Any) -> tuple[Any, int]:
        """A copy of the part with this value at the path, and the cost: see cost()."""
        path = path[1:] if path[:1] == ("?",) else path
        if not path:
            return copy.deepcopy(value), 0
        schema = without_null(schema)
        step, rest = path[0], path[1:]
        inner = self._inner(schema, step)
        if step == "[]":
            return self._put_in_list(part, inner, rest, value)
        if step[0] == "<":
            if step[1:-1] in (part.get("kind"), part.get("name")):
                return self._put(part, inner, rest, value)
            if "allOf" in schema:  # a listed plugin stays the plugin that it is
                raise LookupError(step)
            other, cost = self._put(self.sample(inner), inner, rest, value)
            return other, cost + 3
        key = next(iter(part), "a") if step == "{}" else step
        if part.get(key) is not None:
            changed, cost = self._put(part[key], inner, rest, value)
        else:
            changed, cost = self._put(self.sample(inner) if rest else None, inner, rest, value)
            cost += 2 if rest else key not in part
        return {**part, key: changed}, cost

    def _put_in_list(self, items: list[Any], inner: Json, rest: Path, value: Any
                     ) -> tuple[list[Any], int]:
        """As _put(), in the item of the list for which the cost is lowest."""
        best: tuple[list[Any], int] | None = None
        for i, item in enumerate(items):
            try:
                changed, cost = self._put(item, inner, rest, value)
            except LookupError:
                continue
            if best is None or cost < best[1]:
                best = items[:i] + [changed] + items[i + 1:], cost
        if best is not None:
            return best
        if items:
            raise LookupError(rest)
        changed, cost = self._put(self.sample(inner), inner, rest, value)
        return [changed], cost + 1

    def sample(self, schema: Json) -> Any:
        """A usual value of the schema, with the required fields only."""
        schema = without_null(schema)
        if "oneOf" in schema:
            return self.sample(schema["oneOf"][0])
        if "const" in schema:
            return schema["const"]
        if "items" in schema:
            return [self.sample(schema["items"])]
        if isinstance(schema.get("additionalProperties"), dict):
            return {"a": self.sample(schema["additionalProperties"])}
        if "properties" in schema:
            return {key: self.sample(schema["properties"][key])
                    for key in schema.get("required", [])}
        if "enum" in schema:
            return schema["enum"][0]
        if "anyOf" in schema:
            return USUAL[smallest_unit(schema)]
        if "minimum" in schema or schema.get("type") in ("integer", "number"):
            return max(1, schema.get("minimum", 1))
        return schema.get("examples", ["a"])[0]


def without_null(schema: Json) -> Json:
    """The schema of an optional value, without its null."""
    options = schema.get("anyOf", [])
    return options[0] if options[-1:] == [{"type": "null"}] else schema


def kind_name(kind: Json) -> str:
    return kind["properties"]["kind"]["const"]


def smallest_unit(schema: Json) -> str:
    """The smallest unit of a quantity."""
    pattern = schema["anyOf"][0]["pattern"]
    return next(unit for unit in LARGEST if f"({unit}|" in pattern)


def extremes(schema: Json, text: str) -> tuple[Any, ...]:
    if "enum" in schema:
        return tuple(schema["enum"])
    if "anyOf" in schema:  # a quantity with a unit
        unit = smallest_unit(schema)
        low, high = f"1{unit}", LARGEST[unit]
        if found := RANGE.search(text.rpartition(" Range: ")[2] if " Range: " in text else ""):
            low = found[1] or found[3] or low
            high = found[2] or found[4] or high
        return (0, low, high) if low == f"1{unit}" else (low, high)
    kind = schema.get("type")
    if kind == "boolean":
        return (False, True)
    if kind in ("integer", "number"):
        largest = UINT64_MAX if schema.get("minimum") == 0 else INT64_MAX
        least, most = (-INT64_MAX - 1, largest) if kind == "integer" else (-1.7e308, 1.7e308)
        low, high = schema.get("minimum", least), schema.get("maximum", most)
        return tuple(dict.fromkeys([low, *([0, 1] if "minimum" not in schema else []), high]))
    if kind is None:
        return ()  # args of plugins, for example, are visited kind by kind
    return ("", "x" * 300)


def limits_told(message: str) -> list[str]:
    """The bounds that a message names when it rejects a value."""
    found = re.search(rf"out of range: must be {RANGE.pattern}", message)
    return [end for end in found.groups() if end] if found else []
