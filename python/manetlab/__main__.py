"""``python -m manetlab``."""

from manetlab.cli import main

main()
