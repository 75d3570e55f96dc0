"""Makes a scenario smaller as long as it fails in the same way."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from draft import Tree

Path = tuple[str | int, ...]


def places(node: Any, at: Path = ()) -> Iterator[Path]:
    """Paths of all values below a node. A value precedes the values in it, and a list begins with its last
    item."""
    if isinstance(node, dict):
        children: list[tuple[str | int, Any]] = list(node.items())
    elif isinstance(node, list):
        children = list(reversed(list(enumerate(node))))
    else:
        return
    for name, _ in children:
        yield (*at, name)
    for name, child in children:
        yield from places(child, (*at, name))


def without(tree: Tree, at: Path) -> Tree | None:
    """A copy of the tree without the value at a path; None if the tree has no such value."""
    smaller = copy.deepcopy(tree)
    node: Any = smaller
    for part in at[:-1]:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return None
    try:
        del node[at[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return smaller


def shrunk(tree: Tree, is_wrong: Callable[[Tree], bool], seconds: float) -> Tree:
    """Removes values one by one, again and again, until every removal would make the failure vanish or the
    time is up."""
    until = time.monotonic() + seconds
    goes_on = True
    while goes_on:
        goes_on = False
        for at in list(places(tree)):
            if time.monotonic() > until:
                return tree
            smaller = without(tree, at)
            if smaller is not None and is_wrong(smaller):
                tree, goes_on = smaller, True
    return tree
