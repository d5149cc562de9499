"""Digests, frozen copies, error texts and the disk cache: everything about compiling that needs no compiler."""

import enum
import math
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path

import numpy as np
import pytest

from nvmath._core import jit
from nvmath._core.jit import DiskCache, Pointer, Signature, UserFunction, cache_folder, code_digest
from nvmath._core.jit.references import references
from nvmath._core.jit.snapshot import freeze, retarget
from nvmath._core.jit.source import compile_error
from nvmath._core.jit.wrapper import wrapper_text


def made(
    body: str, filename: str = "user.py", blank_lines: int = 0, name: str = "f", **globals_: object
) -> types.FunctionType:
    """Compile ``def <name>(x): <body>`` as if it stood somewhere in a file."""
    source = "\n" * blank_lines + f"def {name}(x):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    namespace = dict(globals_)
    exec(compile(source, filename, "exec"), namespace)
    function = namespace[name]
    assert isinstance(function, types.FunctionType)
    return function


def closure(value: object) -> types.FunctionType:
    def f(x):
        return x * value

    return f


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Opaque:
    pass


# --------------------------------------------------------------------------------------------------------- digests


def test_name_file_and_lines_do_not_matter():
    first = made("return x * 2")
    assert code_digest(first) == code_digest(made("return x * 2", filename="other.py", blank_lines=17, name="g"))
    assert code_digest(first).portable


def test_name_of_a_helper_defined_inside_does_not_depend_on_the_file():
    body = "def inner(y):\n    return y + 1\nreturn inner(x)"
    assert code_digest(made(body)) == code_digest(made(body, filename="other.py", blank_lines=3))
    assert code_digest(made(body)) != code_digest(made(body.replace("+ 1", "+ 2")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return x * 2", "return x * 3"),
        ("return x * 2", "return x * 2.0"),
        ("return 0.0", "return -0.0"),
        ("return x + 1", "return x - 1"),
        ("return x.real", "return x.imag"),
        ("return 1", "return True"),
    ],
)
def test_code_and_constants_matter(one, other):
    assert code_digest(made(one)) != code_digest(made(other))


VALUES = [1, 2, 1.0, -0.0, 0.0, 1j, True, None, "a", b"a", (1, 2), (2, 1), [1, 2], frozenset({1}), {"a": 1}]
VALUES += [np.float32(1), np.float64(1), np.dtype("f4"), np.dtype("f8"), np.float32, np.sin, np.cos, math.sin, math]
VALUES += [
    np.arange(3),
    np.arange(4),
    np.arange(3.0),
    np.eye(2),
    np.eye(2)[::-1],
    np.zeros(2, "i4,f4"),
    Color.RED,
    Color.BLUE,
]
VALUES += [made("return x"), made("return x + 1"), ..., slice(1, 2)]


@pytest.mark.parametrize("capture", ["closure", "global", "default"])
def test_captured_values_matter(capture):
    def digest(value):
        if capture == "closure":
            return code_digest(closure(value))
        if capture == "global":
            return code_digest(made("return x * W", W=value))
        function = made("return x")
        function.__defaults__ = (value,)
        return code_digest(function)

    digests = [digest(value) for value in VALUES]
    assert all(found.portable for found in digests)
    assert len({found.hex for found in digests}) == len(VALUES)
    assert digests == [digest(value) for value in VALUES]


def test_arrays_count_by_content():
    array = np.arange(5)
    before = code_digest(closure(array))
    assert before == code_digest(closure(array.copy()))
    array[0] = 7
    assert before != code_digest(closure(array))


def test_globals_that_are_not_read_do_not_matter():
    assert code_digest(made("return x * W", W=1, V=1)) == code_digest(made("return x * W", W=1, V=2))


def test_attributes_of_modules_are_followed():
    constants = types.ModuleType("constants")
    constants.SCALE, constants.OTHER = 2, 5
    function = made("return x * c.SCALE", c=constants)
    before = code_digest(function)
    constants.OTHER = 6
    assert code_digest(function) == before
    constants.SCALE = 3
    assert code_digest(function) != before
    assert before.portable


def test_a_module_that_escapes_is_not_portable():
    constants = types.ModuleType("constants")
    constants.SCALE = 2
    assert not code_digest(made("m = c\nreturn x * m.SCALE", c=constants)).portable
    assert code_digest(made("m = np\nreturn x * m.pi", np=np)).portable


def test_helpers_count_by_content():
    def using(body):
        return code_digest(made("return h(x)", h=made(body)))

    assert using("return x + 1") == using("return x + 1")
    assert using("return x + 1") != using("return x + 2")


def test_recursion_ends():
    function = made("return f(x - 1) if x > 0 else x")
    function.__globals__["f"] = function
    assert code_digest(function).portable
    first, second = made("return g(x)"), made("return h(x)")
    first.__globals__["g"], second.__globals__["h"] = second, first
    assert code_digest(first).hex != code_digest(second).hex
    loop: list[object] = []
    loop.append(loop)
    assert not code_digest(closure(loop)).portable


def test_unknown_objects_count_by_identity_and_only_here():
    one, other = Opaque(), Opaque()
    assert not code_digest(closure(one)).portable
    assert code_digest(closure(one)) == code_digest(closure(one))
    assert code_digest(closure(one)) != code_digest(closure(other))


def test_a_dead_object_never_lends_its_digest():
    seen = {code_digest(closure(Opaque())).hex for _ in range(600)}  # the addresses repeat
    assert len(seen) == 600


def test_a_function_without_a_module_is_not_taken_for_a_builtin():
    for name in (None, "builtins", "numpy"):  # whatever a namespace for exec says
        helpers = [made(f"return {number}", __name__=name, __builtins__=__builtins__) for number in (1, 2)]
        assert {helper.__module__ for helper in helpers} == {name}
        assert len({code_digest(made("return h(x)", h=helper)).hex for helper in helpers}) == 2


def test_digests_are_the_same_in_another_process():
    script = "import numpy as np\nfrom nvmath._core.jit import code_digest\n" + textwrap.dedent(
        """
        def helper(y): return y * W
        W = np.float32(3)
        def f(x): return helper(x) + len({"a", "b", "c"}) if x in {1, 2, 3} else np.sin(x)
        print(code_digest(f).hex)
        """
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_numba_dispatchers_count_by_their_function():
    numba = pytest.importorskip("numba", reason="numba is not installed")

    def using(body, **options):
        return code_digest(made("return h(x)", h=numba.njit(**options)(made(body))))

    assert using("return x + 1") == using("return x + 1")
    assert using("return x + 1") != using("return x + 2")
    assert using("return x + 1") != using("return x + 1", fastmath=True)
    assert using("return x + 1").portable
    assert code_digest(closure(numba.types.float32)) != code_digest(closure(numba.types.float64))


def test_references_of_nested_functions_are_found():
    outer = 1

    def f(x):
        def inner(y):
            return y * outer + math.pi + np.linalg.norm(y)

        return inner(x)

    found = references(f.__code__)
    assert found.cells == (("outer",),)
    assert set(found.globals) == {("math", "pi"), ("np", "linalg", "norm")}


# ----------------------------------------------------------------------------------------------------- frozen copies


def test_a_frozen_function_keeps_its_values():
    array, constants = np.arange(3.0), types.ModuleType("constants")
    constants.SCALE = 2
    function = made("return x * W + A[0] + c.SCALE", W=5, A=array, c=constants)
    frozen = freeze(function)
    before = code_digest(frozen)
    assert frozen(1) == 7
    function.__globals__["W"], constants.SCALE, array[0] = 6, 3, 100
    assert frozen(1) == 7
    assert code_digest(frozen) == before
    assert function(1) == 109


def test_a_frozen_closure_keeps_its_values():
    value = 1

    def f(x):
        return x * value

    frozen = freeze(f)
    value = 2
    assert (f(3), frozen(3)) == (6, 3)
    assert (frozen.__name__, frozen.__qualname__, frozen.__module__) == (f.__name__, f.__qualname__, f.__module__)


def test_an_unassigned_cell_stays_unassigned():
    def f():
        return later

    assert code_digest(freeze(f)) == code_digest(f)
    later = 1
    assert f() == later


def test_retarget_reaches_helpers_in_modules():
    tools = types.ModuleType("tools")
    tools.double = made("return 2 * x")
    function = made("return t.double(x) + math.floor(x)", t=tools, math=math)
    changed = retarget(function, lambda value: (lambda x: 100) if isinstance(value, types.FunctionType) else value)
    assert changed(1.5) == 101
    assert function(1.5) == 4
    assert tools.double(1) == 2


def test_plain_function():
    assert jit.plain_function(made) is made
    assert jit.plain_function(len) is None
    assert jit.plain_function("made") is None


# ------------------------------------------------------------------------------------------ signatures and the wrapper


def test_signature_keys_tell_types_apart():
    record, other = np.dtype([("a", "f4")]), np.dtype([("a", "f4"), ("b", "i4")])
    infos = ["float32", np.dtype("i4"), np.dtype("i8"), record, other, np.dtype([("b", "f4")])]
    keys = {Signature("complex64", (Pointer("complex64"), "uint64", Pointer(info))).key for info in infos}
    keys |= {Signature(None, (Pointer("complex64", aligned=True),)).key, Signature(None, (Pointer("complex64"),)).key}
    assert len(keys) == len(infos) + 2


def test_wrapper_passes_two_scalars_or_one_structure():
    signature = Signature(None, (Pointer("complex64"), "uint64", "complex64"))
    scalars = wrapper_text("s", signature, "inner", "i8*", ["{float, float}*", "i64", "float", "float"])
    assert "%struct.float2 = type { float, float }" in scalars
    assert 'define void @"s"(i8* %a0, i64 %a1, %struct.float2 %a2) {' in scalars
    assert 'call i8* @"inner"({float, float}* %p0, i64 %a1, float %x2, float %y2)' in scalars
    structure = wrapper_text("s", signature, "inner", "void", ["i8*", "i64", "{float, float}"])
    assert 'call void @"inner"(i8* %a0, i64 %a1, {float, float} %s2)' in structure


def test_wrapper_of_real_elements_has_no_structures():
    text = wrapper_text(
        "s", Signature("float64", (Pointer("float64"), "uint64")), "inner", "double", ["double*", "i64"]
    )
    assert "struct" not in text
    assert "ret double %r" in text


@pytest.mark.parametrize("value", [90, 9.0, None, b"90", "9", "9.0", "sm_90", "90a", "", "1234", "²0"])
def test_malformed_capabilities_are_refused(value):
    with pytest.raises(ValueError, match="compute capability must be a string"):
        jit.parse_compute_capability(value)


def test_capabilities():
    assert [jit.parse_compute_capability(text) for text in ("75", "90", "103", "120")] == [
        (7, 5),
        (9, 0),
        (10, 3),
        (12, 0),
    ]


# --------------------------------------------------------------------------------------------------------- error texts


def user(function: types.FunctionType) -> UserFunction:
    return UserFunction.freeze(function, Signature("float32", ("float32",)), "prolog", "prolog(x) -> float32")


def test_an_error_shows_the_line_that_the_compiler_names():
    def f(x):
        y = x + 1
        return y.nothing

    line = f.__code__.co_firstlineno + 2
    said = TypeError(f'bad File "../x/{Path(__file__).name}", line {line}: x')
    text = str(compile_error(f, "prolog", "the GPU", "prolog(x)", said))
    assert "return y.nothing" in text
    assert f"line {line}" in text
    assert __file__ in text
    assert "Expected: prolog(x)" in text
    said = TypeError(f"During: lowering at {__file__} ({line - 1})")
    assert "y = x + 1" in str(compile_error(f, "prolog", "the GPU", "prolog(x)", said))


def test_an_error_shows_where_an_undefined_name_is_read():
    def f(x):
        y = x + 1
        return missing(y)  # noqa: F821

    text = str(compile_error(f, "prolog", "the GPU", "", TypeError("NameError: name 'missing' is not defined")))
    assert "return missing(y)" in text


def test_an_error_about_another_file_shows_the_function():
    def f(x):
        return x

    text = str(compile_error(f, "prolog", "the GPU", "prolog(x)", TypeError('File "other.py", line 3')))
    assert f"line {f.__code__.co_firstlineno}:" in text
    assert "def f(x):" in text


def test_long_messages_are_cut_and_lose_their_colours():
    text = str(compile_error(test_capabilities, "prolog", "the GPU", "", TypeError("\x1b[1mred\x1b[0m\n" * 100)))
    assert "\x1b" not in text
    assert len(text.splitlines()) < 25


def test_parameters():
    def expect(function, n):
        jit.require_parameters(function, ("a", "b", "c")[:n], "prolog", "prolog(a, b, c)")

    expect(lambda a, b, c: 0, 3)
    expect(lambda a, b, c=1: 0, 3)
    for wrong in (lambda a, b: 0, lambda a, b, c, d: 0, lambda *a: 0, lambda a, b, *, c: 0, lambda a, b, **c: 0):
        with pytest.raises(jit.CompileError, match=r"must take 3 positional parameters \(a, b, c\)"):
            expect(wrong, 3)


def test_results():
    def nothing(x):
        x + 1

    def something(x):
        return x

    def constant(x):
        return 3

    def either(x):
        if x:
            return x
        return None

    for function, returns in ((something, True), (constant, True), (nothing, False), (either, False)):
        jit.require_result(function, returns, "prolog", "prolog(x)")
    with pytest.raises(jit.CompileError, match="returns nothing"):
        jit.require_result(nothing, True, "prolog", "prolog(x)")
    with pytest.raises(jit.CompileError, match="in every case"):
        jit.require_result(either, True, "prolog", "prolog(x)")
    with pytest.raises(jit.CompileError, match="returns a constant"):
        jit.require_result(constant, False, "epilog", "epilog(x)")


def test_without_numba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(RuntimeError, match=r'pip install "numba>='):
        jit.host_function(user(made("return x")))
    with pytest.raises(RuntimeError, match=r'pip install "numba>='):
        jit.to_ltoir(user(made("return x")), "symbol", "90")


def test_importing_and_freezing_imports_no_compiler():
    script = (
        "import sys, nvmath.fft\nfrom nvmath._core import jit\ndef f(x): return x\n"
        "jit.UserFunction.freeze(f, jit.Signature('float32', ('float32',)), 'a', 'b').key\n"
        "assert not {'numba', 'llvmlite', 'cuda'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# ---------------------------------------------------------------------------------------------------------- disk cache


def test_what_is_put_can_be_got(tmp_path):
    cache = DiskCache(tmp_path / "made" / "later")
    assert cache.get("key") is None
    assert cache.put("key", b"payload")
    assert cache.get("key") == b"payload"
    assert DiskCache(tmp_path / "made" / "later").get("key") == b"payload"
    assert cache.get("another key") is None
    assert cache.put("key", b"")
    assert cache.get("key") == b""


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-1], lambda c: b"", lambda c: b"x" + c, lambda c: c[:20], lambda c: c + b"x"]
)
def test_damaged_files_count_as_absent_and_go(tmp_path, damage):
    cache = DiskCache(tmp_path)
    cache.put("key", b"payload" * 100)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("key") is None
    assert not path.exists()
    cache.put("key", b"new")
    assert cache.get("key") == b"new"


def test_the_size_is_bounded_and_the_least_recently_used_go(tmp_path):
    cache = DiskCache(tmp_path, limit_nbytes=10_000)
    for number in range(9):
        cache.put(str(number), bytes(1000))
        for (
            path
        ) in tmp_path.iterdir():  # older by a minute for each later file, so the order does not hang on the clock
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))
    assert cache.get("0") is not None  # used just now
    cache.put("9", bytes(1000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 7_500
    assert cache.get("0") is not None
    assert cache.get("9") is not None
    assert cache.get("1") is None


def test_leftovers_of_interrupted_writers_go(tmp_path):
    old, young = tmp_path / "a.tmp", tmp_path / "b.tmp"
    old.write_bytes(b"")
    young.write_bytes(b"")
    os.utime(old, (1, 1))
    DiskCache(tmp_path).put("key", b"x")
    assert not old.exists()
    assert young.exists()


def test_an_unusable_folder_only_keeps_nothing(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for cache in (DiskCache(file / "folder"), DiskCache(None)):
        assert not cache.put("key", b"x")
        assert cache.get("key") is None


def _many_writers(folder: str, start: object, failures: object) -> None:
    cache = DiskCache(Path(folder), limit_nbytes=40_000)
    start.wait()
    for turn in range(30):
        for key in ("a", "b", "c", "d"):
            payload = (key * 5000).encode()
            found = cache.get(key)
            if found not in (None, payload) or not cache.put(key, payload):
                failures.value += 1
        cache.put(f"{os.getpid()} {turn}", bytes(3000))


def test_many_processes_at_once_in_an_empty_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    start, failures = context.Barrier(6), context.Value("i", 0)
    folder = str(tmp_path / "cache")
    processes = [context.Process(target=_many_writers, args=(folder, start, failures)) for _ in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    assert failures.value == 0
    assert not list(tmp_path.glob("cache/*.tmp"))


def test_threads_share_a_cache(tmp_path):
    cache = DiskCache(tmp_path)
    threads = [threading.Thread(target=lambda: [cache.put("k", b"v" * 999) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("k") == b"v" * 999
    assert len(list(tmp_path.iterdir())) == 1


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("NVMATH_DISABLE_DISK_CACHE", raising=False)
    monkeypatch.setenv("NVMATH_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path / "jit"
    monkeypatch.delenv("NVMATH_CACHE_DIR")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache_folder() == tmp_path / "xdg" / "nvmath-anywhere" / "jit"
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_folder() == tmp_path / ".cache" / "nvmath-anywhere" / "jit"
    monkeypatch.setenv("NVMATH_DISABLE_DISK_CACHE", "1")
    assert cache_folder() is None


def test_the_documented_example_runs():
    import doctest

    from nvmath._core.jit import digest

    assert doctest.testmod(digest).failed == 0
