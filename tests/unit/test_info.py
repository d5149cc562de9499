"""``python -m nvmath info``: what is missing can be installed by one line that is there to copy."""

import platform
import re

import pytest

from nvmath import _info
from nvmath.bindings import _load

PACKAGE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@pytest.fixture
def nothing_found(monkeypatch):
    """A machine on which no library and no package is found."""

    def missing(*_, **__):
        raise RuntimeError("not found")

    monkeypatch.setattr(_load, "open_library", missing)
    monkeypatch.setattr(_load, "find_library", lambda _: None)
    monkeypatch.setattr(_info, "_version", lambda _: "")
    monkeypatch.setattr(_info._cuda, "device_count", lambda: 0)
    monkeypatch.setattr(_info._cuda, "why_no_device", lambda: "not found")


def test_each_kind_of_machine_has_one_line():
    names, others = _info.commands(
        [
            "pip install nvidia-cufft (CUDA 13) or nvidia-cufft-cu12 (CUDA 12)", "pip install cutensor-cu13 or cutensor-cu12",
            "pip install numba", "the NVIDIA driver",
        ]
    )  # fmt: skip
    assert names == {
        "on this machine": ["numba"],
        "with CUDA 13": ["nvidia-cufft", "cutensor-cu13"],
        "with CUDA 12": ["nvidia-cufft-cu12", "cutensor-cu12"],
    }
    assert others == ["the NVIDIA driver"]


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "mkl"), ("AMD64", "mkl"), ("aarch64", "nvpl-fft")])
def test_a_package_of_another_processor_is_left_out(monkeypatch, machine, name):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert _info.commands(["pip install mkl (x86-64) or nvpl-fft (Arm)"])[0] == {"on this machine": [name]}


def test_a_package_that_serves_twice_is_named_once():
    both = "pip install nvidia-cublas (CUDA 13) or nvidia-cublas-cu12 (CUDA 12)"
    assert _info.commands([both, both])[0]["with CUDA 13"] == ["nvidia-cublas"]


def test_where_nothing_is_found_the_lines_install_everything(nothing_found, capsys):
    _info.report()
    served, _, bindings = capsys.readouterr().out.partition("for nvmath.bindings only\n")
    assert "served by\nmissing\n" in served
    for text in (served, bindings):
        for major in ("13", "12"):
            (line,) = (line for line in text.splitlines() if line.startswith(f"  with CUDA {major} "))
            names = line.partition("pip install ")[2].split()
            assert all(PACKAGE.fullmatch(name) for name in names)
            assert all(name.endswith("-cu12") == (major == "12") for name in names)
    (here,) = (line for line in served.splitlines() if line.startswith("  on this machine "))
    assert {"numpy", "scipy", "numba", "numba-cuda"} <= set(here.split())


def test_every_way_to_install_a_library_is_understood():
    installs = [row.install for row in _load.libraries() if row.install.startswith("pip ")]
    assert _info.commands(installs)[1] == []
    for install in installs:
        names = [name for wanted in _info.commands([install])[0].values() for name in wanted]
        assert names, install
        assert all(PACKAGE.fullmatch(name) for name in names), install
