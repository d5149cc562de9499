"""`python -m nvmath`: what the demonstration reads and writes, and what the commands print."""

import subprocess
import sys

import numpy as np
import pytest

import nvmath
from nvmath import _demo
from nvmath.__main__ import main


@pytest.fixture
def image():
    return pytest.importorskip("PIL.Image", reason="Pillow is not installed")


RAMP = np.linspace(0, 1, 6 * 8).reshape(6, 8)


@pytest.mark.parametrize(
    ("values", "ending"),
    [
        ((RAMP * 255).round().astype(np.uint8), "png"),
        ((RAMP * 65535).round().astype(np.uint16), "png"),
        ((RAMP * 65535).round().astype(np.uint16), "tiff"),
        ((RAMP * 1_000_000).round().astype(np.int32), "tiff"),
        (RAMP.astype(np.float32), "tiff"),
        ((RAMP * 900 - 300).astype(np.float32), "tiff"),
    ],
    ids=["8 bits", "16 bits", "16 bits, TIFF", "32 bits", "float", "float beyond 0 to 1"],
)
def test_pictures_are_scaled_not_clipped(image, tmp_path, values, ending):
    path = tmp_path / f"ramp.{ending}"
    image.fromarray(values).save(path)
    planes = _demo.load(path)
    assert planes.shape == (3, 6, 8)
    assert planes.dtype == np.float32
    assert np.allclose(planes, RAMP, atol=0.002)


@pytest.mark.parametrize("name", ["no_folder/demo.png", "demo.unknown", ""])
def test_the_output_is_checked_before_anything_is_computed(image, tmp_path, name, monkeypatch, capsys):
    monkeypatch.setattr(_demo, "load", lambda path: pytest.fail("the picture was read"))
    assert main(["demo", "--output", str(tmp_path / name)]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"nvmath-anywhere {nvmath.__version__}\n"


def test_a_reader_that_stops_reading_gets_no_traceback():
    process = subprocess.Popen([sys.executable, "-m", "nvmath", "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    assert "BrokenPipe" not in errors


def test_info_names_every_library_once(capsys):
    assert main(["info"]) == 0
    served, _, others = capsys.readouterr().out.partition("for nvmath.bindings only\n")
    assert others
    there, _, missing = others.partition("missing\n")
    for line in there.splitlines():
        assert line.split()[-1] not in served.split(), line
    assert "cuRAND" in others
    assert not missing or "to install them\n" in missing
    assert " nvidia-curand " in missing or "libcurand" in there
