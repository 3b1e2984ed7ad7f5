"""``python -m manetlab``."""

from manetlab.command import main

main()
