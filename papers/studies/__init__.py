"""Studies that are kept: campaigns, the results that they gave, and what makes their pages."""

from pathlib import Path

import click

from manetlab.cli import options

PAGES_OPTION = click.option(
    "--pages",
    type=options.PATH,
    default=Path("out/pages/papers/studies"),
    show_default=True,
    help="Folder for the page and its figures.",
)
