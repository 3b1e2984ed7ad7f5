"""``manetlab dissector``."""

from __future__ import annotations

import click


@click.command()
def dissector() -> None:
    """Print where the Wireshark dissector of manetlab's own formats is.

    To open a capture with it: wireshark -X lua_script:"$(manetlab dissector)" run.pcapng
    """
    from manetlab.captures import DISSECTOR

    print(DISSECTOR)
