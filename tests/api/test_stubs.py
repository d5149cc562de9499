"""The type stubs of the bindings that the wheel contains: they say what is there, and what it takes."""

import ast
import enum
import importlib
import inspect

import pytest

stubs = pytest.importorskip("tools.bindgen.stubs", reason="tools is not on the path: run from the repository")


@pytest.mark.parametrize("name", stubs.MODULES)
def test_a_stub_declares_everything_with_its_parameters(name):
    module = importlib.import_module("nvmath.bindings." + name.replace("/", "."))
    declared = {node.name: node for node in ast.parse(stubs.stub(module)).body if hasattr(node, "name")}
    public = {row.name for row in module._library.rows() if not row.name.startswith("_")}
    public |= {enumeration for enumeration in module._library.tables.enums if not enumeration.startswith("_")}
    public |= {error for error in vars(module) if error.endswith("Error") and error in dir(module)}
    own = {error for error in public if getattr(getattr(module, error), "__module__", "") != "nvmath.bindings._errors"}
    assert own <= declared.keys()
    for known, node in declared.items():
        value = getattr(module, known)
        if isinstance(node, ast.FunctionDef):
            arguments = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
            assert arguments == list(inspect.signature(value).parameters), known
        elif isinstance(value, enum.EnumMeta):
            members = {
                line.targets[0].id: ast.literal_eval(line.value) for line in node.body if isinstance(line, ast.Assign)
            }
            assert members == {member: int(item) for member, item in value.__members__.items()}
