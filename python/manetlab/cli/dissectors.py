"""``manetlab dissector``."""

from __future__ import annotations

import click


@click.command()
def dissector() -> None:
    """Print the path of the dissector for Wireshark.

    It decodes manetlab's own packet formats.

    To open a capture with it: wireshark -X lua_script:"$(manetlab dissector)" run.pcapng
    """
    from manetlab.captures import DISSECTOR

    print(DISSECTOR)
