"""The kernel for columns, thread by thread against NumPy, and which lengths it is used for."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from columns_on_host import UNUSED, Emulation, name

from nvmath._core.dtypes import DTYPES
from nvmath.bindings._errors import FunctionNotFoundError, LibraryNotFoundError
from nvmath.fft import _columns
from nvmath.fft._columns import RECIPES, Limits, recipe_of, toolkit_fault
from nvmath.fft._columns_source import Recipe, butterfly, source
from nvmath.fft._passes import OUTPUT, Columns

CHOSEN = [*(recipe for recipes in RECIPES.values() for recipe in recipes), *UNUSED]
H200, A100, L40 = Limits((9, 0), 227 << 10), Limits((8, 0), 163 << 10), Limits((8, 9), 99 << 10)
OTHERS = [
    Recipe(4096, 2, (16, 16, 16)),
    Recipe(4096, 4, (16, 16, 16), points=32),
    Recipe(4096, 4, (16, 16, 16), cluster=2),
    Recipe(4096, 8, (16, 16, 16), points=32, cluster=2),
    Recipe(4096, 16, (16, 16, 16), cluster=4),
    Recipe(8192, 8, (16, 8, 8, 8), cluster=4),
    Recipe(2048, 8, (16, 16, 8), cluster=2),
    Recipe(512, 8, (8, 8, 8), points=8),
    Recipe(512, 4, (2, 4, 4, 16), double=True),
]


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("recipe", [*CHOSEN, *OTHERS], ids=name)
def test_threads_compute_the_transform(recipe: Recipe, inverse: bool) -> None:
    random = np.random.default_rng(recipe.length)
    columns = random.standard_normal((recipe.length, recipe.columns)) + 1j * random.standard_normal(
        (recipe.length, recipe.columns)
    )
    emulation = Emulation(recipe, columns, inverse)
    got = emulation.run()
    columns = columns.astype(emulation.dtype).astype(np.complex128)
    want = np.fft.ifft(columns, axis=0) * recipe.length if inverse else np.fft.fft(columns, axis=0)
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < (2e-16 if recipe.double else 4e-8) * np.log2(recipe.length)


@pytest.mark.parametrize("radix", [2, 4, 8, 16])
def test_butterfly(radix: int) -> None:
    values = np.random.default_rng(radix).standard_normal(radix) + 0j
    points = values.copy()
    for first, *rest in butterfly(radix).operations:
        if len(rest) == 1:
            points[first], points[rest[0]] = points[first] + points[rest[0]], points[first] - points[rest[0]]
        else:
            points[first] *= np.exp(-2j * np.pi * rest[0] / rest[1])
    np.testing.assert_allclose(points[list(butterfly(radix).digits)], np.fft.fft(values), atol=1e-13)


@pytest.mark.parametrize("recipe", CHOSEN, ids=name)
def test_chosen_recipes_fit_a_multiprocessor(recipe: Recipe) -> None:
    """At most 1024 threads and 227 KB of shared memory a block; data in half of the registers, which are 256 KB."""
    assert recipe.threads <= 1024
    assert recipe.threads % 32 == 0
    assert recipe.shared_nbytes <= 227 << 10
    assert recipe.threads * recipe.points * recipe.itemsize <= 128 << 10
    assert [recipe.conflicts(exchange, e) for e, exchange in enumerate(recipe.exchanges())] == [0] * (
        len(recipe.radices) - 1
    )


@pytest.mark.parametrize("recipe", [*CHOSEN, *OTHERS], ids=name)
def test_no_warp_has_bank_conflicts(recipe: Recipe) -> None:
    words = recipe.itemsize // 4
    group = 32 // words
    for e, layout in enumerate(recipe.exchanges()):
        for stage in recipe.stages()[e : e + 2]:
            for rank in range(recipe.cluster):
                names = {"t": np.arange(recipe.threads) // recipe.columns, "rank": rank}
                own = layout.at(eval(stage.rho, names), eval(stage.j, names))
                addresses = own * recipe.columns + np.arange(recipe.threads) % recipe.columns
                for start in range(0, recipe.threads, group):
                    part = np.broadcast_to(addresses, (recipe.threads,))[start : start + group]
                    banks = (part[:, None] * words + np.arange(words)).ravel() % 32
                    assert np.unique(banks).size == banks.size


def test_refuses_radices_of_another_length() -> None:
    with pytest.raises(ValueError, match="do not make 128 points"):
        Recipe(128, 4, (8, 8))


def test_refuses_a_cluster_that_cannot_share() -> None:
    with pytest.raises(ValueError, match="cannot share"):
        Recipe(64, 4, (8, 8), cluster=16)


@pytest.mark.parametrize(("prolog", "epilog"), [(False, False), (True, True)])
@pytest.mark.parametrize("recipe", [CHOSEN[0], OTHERS[4]], ids=name)
def test_source_compiles(recipe: Recipe, prolog: bool, epilog: bool) -> None:
    nvrtc = pytest.importorskip("nvmath.bindings._nvrtc")
    try:
        nvrtc.version()
    except LibraryNotFoundError as error:
        pytest.skip(str(error))
    code = nvrtc.compile(source(recipe, True, prolog, epilog), options=("-arch=sm_90", "-rdc=true"), kind="ltoir")
    assert code


def columns(length: int, width: int, outer: int = 1, dtype: str = "float32") -> Columns:
    """Rows without gaps, in place."""
    layout = (width, length * width) * 2
    return Columns(OUTPUT, OUTPUT, DTYPES[dtype], length, width, outer, *layout)


@pytest.mark.parametrize(
    ("step", "limits", "wanted"),
    [
        (columns(4096, 2049), H200, (8, 2)),
        (columns(4096, 2049), A100, (4, 1)),  # no clusters
        (columns(4096, 2049), L40, None),  # not enough shared memory
        (columns(8192, 2049), H200, None),  # does not pay
        (columns(2048, 33), H200, (8, 1)),
        (columns(1024, 1024), L40, (8, 1)),
        (columns(512, 2049), L40, (16, 1)),
        (columns(512, 16, outer=8), H200, (16, 1)),
        (columns(512, 16, outer=7), H200, None),  # little data
        (columns(4096, 15), H200, None),  # few columns
        (columns(256, 4096), H200, None),  # not measured
        (columns(4096, 2049, dtype="float64"), H200, None),
        (columns(4096, 2049, dtype="float16"), H200, None),
        (columns(4095, 2049), H200, None),
    ],
)
def test_what_is_used(step: Columns, limits: Limits, wanted: tuple[int, int] | None) -> None:
    recipe = recipe_of(step, limits)
    assert (None if recipe is None else (recipe.columns, recipe.cluster)) == wanted
    assert recipe is None or recipe.length == step.length


def missing() -> None:
    """A library that is not there."""
    raise LibraryNotFoundError("NVRTC was not found; this operation needs it.\n  looked for: libnvrtc.so")


def old() -> None:
    """A function that an old library does not have."""
    raise FunctionNotFoundError("nvJitLinkVersion is not in nvJitLink 12.0 (libnvJitLink.so)")


@pytest.mark.parametrize(
    ("library", "function", "behaviour", "text"),
    [
        ("nvrtc", "version", missing, "NVRTC was not found; this operation needs it."),
        ("nvjitlink", "version", old, "nvJitLinkVersion is not in nvJitLink 12.0 (libnvJitLink.so)"),
        ("nvrtc", "supported_archs", lambda: [75, 80], "NVRTC 12.9 does not know compute capability 9.0"),
    ],
)
def test_without_a_fitting_toolkit_it_is_not_used(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, library: str, function: str, behaviour: Any, text: str
) -> None:
    nvrtc = SimpleNamespace(version=lambda: (12, 9), supported_archs=lambda: [75, 80, 90])
    libraries = {"nvrtc": nvrtc, "nvjitlink": SimpleNamespace(version=lambda: (12, 9))}
    for title, imitation in libraries.items():
        monkeypatch.setattr(_columns, title, imitation)
    monkeypatch.setattr(_columns, "limits_of", lambda device: H200)
    monkeypatch.setattr(_columns, "toolkit_fault", toolkit_fault.__wrapped__)  # without what it remembers
    caplog.set_level(logging.DEBUG)
    assert _columns.pays(0, columns(4096, 2049))
    assert not caplog.records
    setattr(libraries[library], function, behaviour)
    assert not _columns.pays(0, columns(4096, 2049))
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]
    assert text in caplog.text
    assert not _columns.pays(0, columns(4095, 2049))
    assert len(caplog.records) == 1
