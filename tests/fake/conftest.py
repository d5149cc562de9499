"""Machines for the tests of this folder."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from fake.machine import Machine, machine


@pytest.fixture(scope="package", autouse=True)
def light_collections() -> Iterator[None]:
    """Every test looks for garbage; let that not go through all the modules each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def gpu() -> Iterator[Machine]:
    """A machine with one GPU; plans need a workspace."""
    with machine() as made:
        yield made


@pytest.fixture
def gpus() -> Iterator[Machine]:
    """A machine with two GPUs; plans need a workspace."""
    with machine(devices=2) as made:
        yield made


@pytest.fixture
def lean() -> Iterator[Machine]:
    """A machine with one GPU; plans need no workspace."""
    with machine(workspace_nbytes=0) as made:
        yield made
