"""The recorded surface of the low-level bindings: names, parameters, enumerations with their values, classes of errors.

``bindings.txt`` records it (`tools.bindgen.recorded` reads it). Ours may have more: functions, members, optional parameters.
"""

import enum
import importlib
import inspect
import pickle

import pytest

recorded_module = pytest.importorskip(
    "tools.bindgen.recorded", reason="tools is not on the path: run from the repository"
)
RECORDED = recorded_module.recorded()

#: Recorded names that ours lack, and why; ``docs/compatibility.md`` lists them.
ABSENT = {
    "nvmath.bindings.cudss": {
        "cuMemAllocFromPoolAsync",
        "cuMemFreeAsync",
    },  # functions of another package that the module imports
    "nvmath.bindings.cutensor": {"load_nvidia_dynamic_lib"},  # the same
}


def entries(kind):
    return [
        pytest.param(module, name, id=f"{module.removeprefix('nvmath.bindings.')}.{name}")
        for module, names in RECORDED.items()
        for name in getattr(names, kind)
        if name not in ABSENT.get(module, ())
    ]


def ours(module, name):
    return getattr(importlib.import_module(module), name)


def test_everything_is_recorded():
    assert len(RECORDED) == 18
    assert sum(len(names.functions) for names in RECORDED.values()) > 2000


@pytest.mark.parametrize("module", RECORDED)
def test_functions_take_the_same_parameters(module):
    wrong = {}
    for name, parameters in RECORDED[module].functions.items():
        if name in ABSENT.get(module, ()):
            continue
        found = inspect.signature(ours(module, name)).parameters
        needed = [p.name for p in found.values() if p.default is p.empty or p.name in parameters]
        if needed != parameters or not callable(ours(module, name)):
            wrong[name] = (needed, parameters)
    assert not wrong


@pytest.mark.parametrize(("module", "name"), entries("enums"))
def test_enumerations_have_the_same_members(module, name):
    base, members = RECORDED[module].enums[name]
    found = ours(module, name)
    assert issubclass(found, getattr(enum, base))
    assert members.items() <= {member: value.value for member, value in found.__members__.items()}.items()


@pytest.mark.parametrize(("module", "name"), entries("classes"))
def test_classes_are_there(module, name):
    facts = RECORDED[module].classes[name]
    found = ours(module, name)
    assert inspect.isclass(found)
    if "Exception" in facts:
        assert issubclass(found, Exception)
        assert not issubclass(found, RuntimeError)
    for member in ("from_data", "from_ptr", "ptr", "version", "algo", "workspace_size", "mpi_comm", "data_"):
        assert f'"{member}"' not in facts or hasattr(found, member)


ERRORS = [entry for entry in entries("classes") if "(status)" in RECORDED[entry.values[0]].classes[entry.values[1]]]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_errors_are_values(module, name):
    error = ours(module, name)(1)
    assert error.status == 1
    assert pickle.loads(pickle.dumps(error)).status == 1
    assert str(error) == str(pickle.loads(pickle.dumps(error)))
    with pytest.raises(type(error)):
        ours(module, "check_status")(1)
    assert ours(module, "check_status")(0) is None


@pytest.mark.parametrize("module", RECORDED)
def test_dir_lists_the_recorded_names(module):
    names = {*RECORDED[module].functions, *RECORDED[module].enums, *RECORDED[module].classes}
    assert names - ABSENT.get(module, set()) <= set(dir(importlib.import_module(module)))


@pytest.mark.parametrize("module", [*RECORDED, "nvmath.bindings.nccl", "nvmath.bindings.nvpl.lapack"])
def test_rows_are_sound(module):
    rows = importlib.import_module(module)._library.rows()
    assert rows
    for row in rows:
        names = [p.name for p in row.parameters]
        assert len(set(names)) == len(names), row
        assert all(name.isidentifier() for name in names)
        assert row.documentation("Error").startswith(f"Calls the C function ``{row.c_name}``")
