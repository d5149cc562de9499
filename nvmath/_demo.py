"""The demonstration: a photograph blurred by a Gaussian, as two FFTs and a Python function between them.

The forward transform multiplies by the filter while it stores each frequency (an epilog), so no third pass over memory
is needed. NumPy does the same beside it, and ``scipy.ndimage.gaussian_filter(mode="wrap")`` is the reference.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from . import fft
from ._core.options import available_threads
from .bindings import _cuda, _load

PHOTOS: Final = ("coffee.png", "chelsea.png", "astronaut.png", "camera.png")
TOLERANCE: Final = 1e-5
REPEATS: Final = 15
SECONDS: Final = 10
"""Of a large photograph fewer repetitions fit into this time."""


class DemoError(Exception):
    """Something that the demonstration needs is not there; the text says what to do."""


@dataclass
class Run:
    """One way to blur: where, by what, and what came out."""

    title: str
    place: str
    library: str
    blur: Callable[[], Any]
    wait: Callable[[], Any]
    blurred: Any
    first_ms: float
    times_ms: list[float] = field(default_factory=list)

    @property
    def ms(self) -> float:
        """Median of the repetitions."""
        return statistics.median(self.times_ms)


# --- the photograph ---------------------------------------------------------------------------------------------------


def shipped_photo() -> Path:
    """Return the file of a photograph that scikit-image installs."""
    found = find_spec("skimage")
    folders = [Path(folder) / "data" for folder in (found.submodule_search_locations or [])] if found else []
    for folder in folders:
        for name in PHOTOS:
            if (folder / name).is_file():
                return folder / name
    raise DemoError(
        "No photograph: scikit-image ships some, and it is not installed. Install it with: "
        "pip install scikit-image pillow, or name a JPEG or PNG file: python -m nvmath demo photo.jpg"
    )


def load(path: Path) -> Any:
    """Read a picture as float32 planes of shape (channels, height, width), from 0 to 1."""
    pillow = _pillow("Image")
    try:
        with pillow.open(path) as picture:
            upright = _pillow("ImageOps").exif_transpose(picture)
            deep = picture.mode in ("I", "F") or picture.mode.startswith("I;16")
            if deep:  # Pillow's conversion would clip them at 255
                plane = _scaled(np.asarray(upright, dtype=np.float64), picture.mode, picture.format)
                pixels = np.stack([plane] * 3, axis=-1)
            else:
                pixels = np.asarray(upright.convert("RGB"), dtype=np.float32) / np.float32(255)
    except OSError as error:
        raise DemoError(f"{path} cannot be read as a picture: {error}") from None
    return np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)


def _scaled(plane: Any, mode: str, file_format: str | None) -> Any:
    """Scale a grey picture of more than 8 bits to 0 to 1: 16 bits by their range, others by their smallest and largest value."""
    if mode.startswith("I;16") or (mode == "I" and file_format == "PNG"):
        return plane / 65535
    if not np.isfinite(plane).all():
        raise DemoError("The picture has infinities or NaN.")
    low, high = plane.min(), plane.max()
    if mode == "F" and low >= 0 and high <= 1:
        return plane
    return (plane - low) / ((high - low) or 1)


def _pillow(module: str) -> Any:
    try:
        return getattr(__import__("PIL." + module), module)
    except ImportError:
        raise DemoError(
            "Pillow reads and writes the pictures. Install it with: pip install pillow"
        ) from None


# --- the filter -------------------------------------------------------------------------------------------------------


def transfer(length: int, sigma: float, half: bool) -> Any:
    """Return each frequency's factor for SciPy's kernel: a Gaussian that is cut off at four sigma and sums to one."""
    radius = int(4 * sigma + 0.5)
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights /= weights.sum()
    frequencies = np.arange(length // 2 + 1 if half else length)
    return np.cos(2 * np.pi / length * np.outer(frequencies, offsets)) @ weights


def filter_of(shape: tuple[int, ...], sigma: float) -> Any:
    """Return the filter of a picture, one plane per channel; it also holds the 1/N that the transforms leave out."""
    _, height, width = shape
    plane = np.outer(transfer(height, sigma, half=False), transfer(width, sigma, half=True)) / (height * width)
    return np.ascontiguousarray(np.broadcast_to(plane, (shape[0], *plane.shape)), dtype=np.float32)


def multiply(spectrum, offset, element, filter_, reserved):  # type: ignore[no-untyped-def]
    """The epilog: called for every element that the forward transform stores, compiled for where it runs."""
    spectrum[offset] = element * filter_[offset]


# --- the ways to blur -------------------------------------------------------------------------------------------------


def with_nvmath(photo: Any, filter_: Any, execution: str, fused: bool) -> tuple[Callable[[], Any], str]:
    """Return the blur of a photograph as a function of no arguments, planned once, and the library that serves it."""
    width = photo.shape[-1]
    forward = fft.FFT(photo, axes=(1, 2), execution=execution)
    forward.plan(epilog={"function": multiply, "data": filter_} if fused else None)
    filtered = forward.execute() if fused else forward.execute() * filter_
    options = fft.FFTOptions(fft_type="C2R", last_axis_parity="odd" if width % 2 else "even")
    backward = fft.FFT(filtered, axes=(1, 2), execution=execution, options=options)
    backward.plan()

    def blur() -> Any:
        spectrum = forward.execute()
        backward.reset_operand(spectrum if fused else spectrum * filter_)
        return backward.execute()

    return blur, _library(execution, forward._plan_object)


def _library(execution: str, plan: Any) -> str:
    if execution == "cpu" and type(plan.library).__name__ == "PocketfftLibrary":
        return f"scipy.fft {metadata.version('scipy')}"
    library = _load.open_library("fftw" if execution == "cpu" else "cufft")
    return f"{library.title} {library.version}"


def with_numpy(photo: Any, filter_: Any) -> Any:
    """Blur by numpy.fft."""
    spectrum = np.fft.rfft2(photo) * filter_
    return np.fft.irfft2(spectrum, s=photo.shape[1:], norm="forward")


def with_convolution(photo: Any, sigma: float) -> Any:
    """Blur by the sum over each pixel's neighbours."""
    from scipy.ndimage import gaussian_filter

    return np.stack([gaussian_filter(plane, sigma, mode="wrap") for plane in photo])


def prepare(
    title: str, place: str, make: Callable[[], tuple[Callable[[], Any], str]], wait: Callable[[], Any] = lambda: None
) -> Run:
    """Plan, compile and run once."""
    begin = time.perf_counter()
    blur, library = make()
    blurred = blur()
    wait()
    return Run(title, place, library, blur, wait, blurred, (time.perf_counter() - begin) * 1e3)


def measure(runs: list[Run]) -> None:
    """Repeat all runs in turns, so that whatever else the machine does meets each of them."""
    end = time.perf_counter() + SECONDS
    while len(runs[0].times_ms) < REPEATS and (time.perf_counter() < end or len(runs[0].times_ms) < 3):
        for run in runs:
            begin = time.perf_counter()
            run.blur()
            run.wait()
            run.times_ms.append((time.perf_counter() - begin) * 1e3)


def on_cpu(photo: Any, filter_: Any) -> Run:
    """Blur on the CPU; without numba the filter is a pass of NumPy."""
    fused = find_spec("numba") is not None
    title = "nvmath, filter in the epilog" if fused else "nvmath, filter by NumPy (numba is not installed)"
    threads = available_threads()
    place = f"CPU, {threads} thread{'s' if threads > 1 else ''}"
    return prepare(title, place, lambda: with_nvmath(photo, filter_, "cpu", fused))


def on_gpu(photo: Any, filter_: Any) -> Run:
    """Blur on the first GPU, with the arrays of the first package that can use it."""
    name, upload, download, wait = _gpu_arrays()
    arrays, factors = upload(photo), upload(filter_)
    place = _cuda.device_name(0)
    if name == "NumPy":
        run = prepare("nvmath, NumPy, filter by NumPy", place, lambda: with_nvmath(arrays, factors, "cuda", False))
    else:
        try:
            title = f"nvmath, {name}, filter in the epilog"
            run = prepare(title, place, lambda: with_nvmath(arrays, factors, "cuda", True), wait)
        except Exception as error:  # what compiles for GPUs is missing or too old: say so and do without
            print(f"GPU          no epilog: {_first_line(error)}")
            title = f"nvmath, {name}, filter by {name}"
            run = prepare(title, place, lambda: with_nvmath(arrays, factors, "cuda", False), wait)
    run.blurred = download(run.blurred)
    return run


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _gpu_arrays() -> tuple[str, Callable[[Any], Any], Callable[[Any], Any], Callable[[], Any]]:
    """Return the package whose arrays to use: its name, upload, download, wait."""
    if find_spec("cupy") is not None:
        import cupy

        return "CuPy", cupy.asarray, cupy.asnumpy, cupy.cuda.get_current_stream().synchronize
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            upload = lambda array: torch.from_numpy(array).cuda()  # noqa: E731
            return "PyTorch", upload, lambda tensor: tensor.cpu().numpy(), torch.cuda.synchronize
    return "NumPy", lambda array: array, lambda array: array, lambda: None


# --- the picture and the report ---------------------------------------------------------------------------------------


def write_picture(path: Path, photo: Any, blurred: Any, captions: tuple[str, str]) -> None:
    """Write both side by side, with a line under each."""
    image, draw_on, fonts = _pillow("Image"), _pillow("ImageDraw"), _pillow("ImageFont")
    _, height, width = photo.shape
    gap, size = max(8, width // 50), max(12, min(width // 26, 40))
    caption = 2 * size
    sheet = image.new("RGB", (2 * width + 3 * gap, height + 2 * gap + caption), (250, 250, 248))
    pen, font = draw_on.Draw(sheet), fonts.load_default(size=size)
    for index, (planes, text) in enumerate(zip((photo, blurred), captions, strict=True)):
        pixels = np.clip(planes.transpose(1, 2, 0) * 255 + 0.5, 0, 255).astype(np.uint8)
        left = gap + index * (width + gap)
        sheet.paste(image.fromarray(pixels), (left, gap))
        middle = left + width / 2, height + gap + (gap + caption) / 2
        pen.text(middle, text, fill=(40, 40, 40), font=font, anchor="mm")
    try:
        sheet.save(path)
    except (OSError, ValueError) as error:
        raise DemoError(f"The picture cannot be written to {path}: {error}") from None


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written to, before anything is computed."""
    image = _pillow("Image")
    endings = {ending for ending, name in image.registered_extensions().items() if name in image.SAVE}
    if path.suffix.lower() not in endings:
        raise DemoError(f"The picture cannot be written to {path}: the name must end in .png, .jpg or the like.")
    if path.is_dir():
        raise DemoError(f"The picture cannot be written to {path}: it is a folder.")
    if not path.parent.is_dir():
        raise DemoError(f"The picture cannot be written to {path}: there is no folder {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise DemoError(f"The picture cannot be written to {path}: permission denied.")


def run(photo_path: Path | None, sigma: float, output: Path, execution: str | None) -> int:
    """Blur, check, time, write the picture and say what was done; return the exit status."""
    try:
        return _run(photo_path, sigma, output, execution)
    except DemoError as error:
        print(error, file=sys.stderr)
        return 1


def _run(photo_path: Path | None, sigma: float, output: Path, execution: str | None) -> int:
    if not sigma > 0:
        raise DemoError(f"--sigma must be positive, not {sigma}.")
    check_output(output)
    path = photo_path or shipped_photo()
    photo = load(path)
    channels, height, width = photo.shape
    print(f"photograph   {path.name}, {width} x {height}, {channels} channels, float32")
    print(f"blur         Gaussian, sigma = {sigma:g} pixels: R2C FFT, times the filter, C2R FFT")
    filter_ = filter_of(photo.shape, sigma)
    runs = _nvmath_runs(photo, filter_, execution)
    peer = prepare(
        "NumPy, filter by NumPy",
        "CPU, 1 thread",
        lambda: (lambda: with_numpy(photo, filter_), f"numpy.fft {np.__version__}"),
    )
    measure([*runs, peer])
    _print_runs([*runs, peer])
    first = runs[0]
    captions = f"{path.name}, {width} x {height}", f"{first.place}, {first.library}: {first.ms:.2g} ms"
    write_picture(output, photo, first.blurred, captions)
    print(f"\npicture      {output}")
    expected = with_convolution(photo, sigma)
    worst = max(float(np.abs(run.blurred - expected).max()) for run in runs)
    verdict = "ok" if worst <= TOLERANCE else f"WRONG, it should be at most {TOLERANCE:.0e}"
    print(f"check        at most {worst:.1e} of white from scipy.ndimage.gaussian_filter(mode='wrap'): {verdict}")
    return 0 if worst <= TOLERANCE else 1


def _nvmath_runs(photo: Any, filter_: Any, execution: str | None) -> list[Run]:
    """Run on a GPU and on the CPU, or where the user said."""
    runs = []
    if execution != "cpu":
        try:
            if _cuda.device_count() == 0:
                raise DemoError(_cuda.why_no_device())
            runs.append(on_gpu(photo, filter_))
        except (DemoError, RuntimeError) as error:
            if execution == "cuda":
                raise DemoError(f"Not on a GPU: {error}") from error
            print(f"GPU          not used: {_first_line(error)}")
    if execution != "cuda":
        runs.append(on_cpu(photo, filter_))
    return runs


def _print_runs(runs: list[Run]) -> None:
    """Print what ran where and how long it took, relative to the last, which is NumPy."""
    base = runs[-1].ms
    cells = [("what", "where", "library", "first call", "median", "NumPy / this")]
    for run in runs:
        numbers = f"{run.first_ms:.1f} ms", f"{run.ms:.2f} ms", f"{base / run.ms:.1f}"
        cells.append((run.title, run.place, run.library, *numbers))
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    print()
    for row in cells:
        left = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths[:3], strict=True))
        right = "  ".join(cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True))
        print(f"{left}  {right}")
    print(f"(first call: planning and compiling included; median of {len(runs[0].times_ms)} further calls)")
