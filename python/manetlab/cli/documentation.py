"""``manetlab docs``."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("page", required=False, help="The page, such as metrics. [the list of pages]")
def docs(page: str | None) -> None:
    """Print a page of the documentation.

    A terminal shows it formatted; a file or a pipe gets the Markdown.
    """
    from manetlab.documentation import headings, read

    if page is None:
        for name, heading in headings().items():
            print(f"{name:{max(map(len, headings()))}}  {heading}")
        return
    text = read(page)
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
