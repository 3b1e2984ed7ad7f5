"""The text beside a network, from a little Markdown: headings, paragraphs, lists, emphasis and code."""

from __future__ import annotations

import html
import re

FOLDED = "Solutions"
"""What follows this heading is folded."""
INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\*([^*]+)\*"), r"<em>\1</em>"),
)
ITEM = re.compile(r"(?:\d+\.|-) +")


def to_html(text: str) -> str:
    """The text as a section of the page. Nothing in it becomes an element but the marks above.

    Args:
        text: The Markdown.
    """
    parts = []
    is_folded = False
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("#"):
            heading = block.lstrip("#").strip()
            if heading == FOLDED:
                is_folded = True
                parts.append(f"<details><summary>{FOLDED}</summary>")
            else:
                parts.append(f"<h2>{_inline(heading)}</h2>")
        elif ITEM.match(block):
            kind = "ol" if block[0].isdigit() else "ul"
            items = re.split(r"\n(?=(?:\d+\.|-) )", block)
            rows = "".join(f"<li>{_inline(ITEM.sub('', each, count=1))}</li>" for each in items)
            parts.append(f"<{kind}>{rows}</{kind}>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    if is_folded:
        parts.append("</details>")
    body = "\n".join(parts)
    return f'<section id="lesson" aria-label="Exercise">\n{body}\n</section>'


def _inline(text: str) -> str:
    made = html.escape(" ".join(text.split()))
    for mark, replacement in INLINE:
        made = mark.sub(replacement, made)
    return made
