"""The Python blocks of Markdown files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """One fenced block: its code, and the line where that begins."""

    line: int
    code: str


def snippets_of(page: Path) -> list[Snippet]:
    """Return the blocks whose language is ``python``, in order."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in FENCE.finditer(text):
        if match["info"].strip() == "python":
            indent = len(match["indent"])
            code = "\n".join(line[indent:] for line in match["code"].split("\n"))
            found.append(Snippet(text.count("\n", 0, match.start("code")) + 1, code))
    return found
