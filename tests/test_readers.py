"""Readers take anything: the fuzz targets of `tests.readers`, with few inputs."""

import random
import warnings

import pytest

from tests.fuzzing import drawn
from tests.readers import TARGETS, accepts

INPUTS = {"store": 60}
"""How many each target gets; 400 if it is not named."""


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_reads_or_refuses(name: str) -> None:
    dice = random.Random(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = sum(accepts(TARGETS[name], drawn(dice)) for _ in range(INPUTS.get(name, 400)))
    # Changes that are all refused, or all taken, would test little.
    assert 0 < read < INPUTS.get(name, 400)
