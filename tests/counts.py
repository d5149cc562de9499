"""Counting Python-level calls: times are noise on shared machines, counts are not.

A call of a Python function counts, whoever it belongs to; a call of a C function does not.
"""

import sys
from collections.abc import Callable

EXECUTE, RESET_AND_EXECUTE, ONE_CALL = 15, 25, 30
"""Upper bounds for every operation."""


def calls_of(function: Callable[[], object]) -> int:
    """Count the Python functions that `function` enters, itself left out."""
    return entered(function) - 1


def entered(function: Callable[[], object], folder: str = "") -> int:
    """Count the Python functions that are entered, those of the files below a folder."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(folder)

    function()  # what is made at the first call is made
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
