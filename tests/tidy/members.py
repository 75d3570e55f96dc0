"""Counts the data members of classes, including those of structs that are nested in them."""
import re
from collections.abc import Iterator

HEAD = re.compile(r"\b(?:class|struct)\s+(?:ORRERY_API\s+|\[\[nodiscard\]\]\s+)*(\w+)"
                  r"(?:\s+final)?\s*(?::[^;{()]*)?\{")
NO_MEMBER = re.compile(r"(static|using|typedef|friend|enum|class|struct|template|constexpr|explicit"
                       r"|virtual|operator)\b")


def classes(code: str) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of the body of each outer class."""
    at = 0
    while found := HEAD.search(code, at):
        depth, end = 1, found.end()
        while depth > 0 and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield found[1], found.end(), end - 1
        at = end


def without(text: str, opening: str, closing: str, mark: str) -> str:
    """The text with `mark` in place of each outer pair of these brackets and what is between them."""
    out, depth = [], 0
    for c in text:
        if c == opening:
            depth += 1
        elif c == closing and depth > 0:
            depth -= 1
            if depth == 0:
                out.append(mark)
        elif depth == 0:
            out.append(c)
    return "".join(out)


def count(body: str) -> int:
    """Number of data members declared in the body of a class and of the structs nested in it."""
    members, own, at = 0, "", 0
    for _, begin, end in classes(body):
        members += count(body[begin:end])
        head = body.rfind(";", 0, begin)
        brace = body.rfind("}", 0, begin)
        own += body[at:max(head, brace, at - 1) + 1]
        at = end + 1
    own += body[at:]
    own = without(without(own, "{", "}", "@"), "(", ")", "!")
    own = re.sub(r"\b(public|private|protected)\s*:", "", without(own, "<", ">", ""))
    for statement in own.split(";"):
        # Drops inline functions. In `own`, "!" stands for parameters and "@" for a body.
        while function := re.search(r"![^@;]*@", statement):
            statement = statement[function.end():]
        statement = statement.strip()
        if statement and "!" not in statement and not NO_MEMBER.match(statement):
            members += statement.count(",") + 1
    return members
