"""The rules that the whole package keeps, read from its source."""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import npconv

ROOT = Path(__file__).parents[1]
PACKAGE = Path(npconv.__file__).parent
SOURCES = {path.relative_to(PACKAGE.parent).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
# Whatever multiplies arrays and sums, by any of its names.
PRODUCTS = set(
    "matmul dot tensordot einsum inner outer vdot vecdot matvec vecmat kron convolve correlate".split()
)


@lru_cache(None)
def tree(name: str) -> ast.Module:
    return ast.parse(SOURCES[name].read_text(encoding="utf-8"))


def module_name(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_name(name): name for name in SOURCES}
# Those who use the core: the referee, the teacher, the command line and what it runs.
USERS = {"testing", "explain", "exercise", "job", "commands", "cli", "__main__"}


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


CORE = [name for module, name in MODULES.items() if part(module) not in USERS]


def imported(name: str) -> Iterator[str]:
    """Every module that this file imports, wherever in it; `from a import b` may mean module a.b."""
    package = module_name(name).split(".")
    if not name.endswith("__init__.py"):
        package = package[:-1]
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            found = [module for module in inner if module in MODULES]
            yield from found
            if len(found) < len(inner):
                yield origin


def imports_within(name: str) -> set[str]:
    return {module for module in imported(name) if module.split(".")[0] == "npconv"}


def test_the_sources_were_found():
    assert {"npconv/conv.py", "npconv/grad.py", "npconv/geometry.py"} <= SOURCES.keys()


# ---------------------------------------------------------------- one product


def products(module: ast.Module) -> list[int]:
    """The lines on which arrays are multiplied and summed: NumPy's functions, the methods, the operator."""
    lines = []
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            lines += [node.lineno] * (node.func.attr in PRODUCTS)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            lines += [node.lineno] * isinstance(node.op, ast.MatMult)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numpy"):
            lines += [node.lineno for alias in node.names if alias.name in PRODUCTS]
    return lines


@pytest.mark.parametrize(
    "line",
    [
        "np.dot(a, b)",
        "a.dot(b)",
        "numpy.linalg.matmul(a, b)",
        "a @ b",
        "a @= b",
        "from numpy import einsum as e",
    ],
)
def test_a_product_is_seen_in_every_guise(line):
    assert products(ast.parse(line)) == [1]


def test_one_file_holds_the_product():
    # Nor do testing and explain have one: a second product would be a second kernel.
    assert [name for name in SOURCES if products(tree(name))] == ["npconv/conv.py"]


# ---------------------------------------------------------------- imports


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_but_numpy_and_the_standard_library_is_imported(name):
    tops = {module.split(".")[0] for module in imported(name)}
    assert tops - set(sys.stdlib_module_names) - {"numpy", "npconv"} == set()


def test_geometry_knows_no_numpy():
    seen, todo = set(), ["npconv.geometry"]
    while todo:
        module = todo.pop()
        seen.add(module)
        assert "numpy" not in {name.split(".")[0] for name in imported(MODULES[module])}, module
        todo += imports_within(MODULES[module]) - seen


def test_imports_run_one_way():
    """No module imports, over however many others, itself."""
    graph = {module: imports_within(name) - {module} for module, name in MODULES.items()}
    TopologicalSorter(graph).prepare()  # a CycleError names the cycle


def test_the_modules_can_be_read_in_the_order_of_the_idea():
    order = ["arguments", "geometry", "transforms", "conv", "grad", "trilinear", "rules", "form", "functional"]
    order += ["transposed", "derivatives", "problem"]
    for place, module in enumerate(order):
        later = {f"npconv.{other}" for other in order[place:]} | {"npconv"}
        if module == "problem":  # it needs only sizes
            later |= {f"npconv.{other}" for other in order[2:]}
        assert imports_within(f"npconv/{module}.py") & later == set(), module


@pytest.mark.parametrize("name", CORE)
def test_the_core_knows_nothing_of_those_who_use_it(name):
    assert {part(other) for other in imports_within(name)} & USERS == set()


@pytest.mark.parametrize("one, other", [("testing", "explain"), ("explain", "testing")])
def test_testing_and_explain_do_not_import_each_other(one, other):
    """Not even through a third module."""
    for start in (module for module in MODULES if part(module) == one):
        seen, todo = set(), {start}
        while todo:
            module = todo.pop()
            seen.add(module)
            assert part(module) != other, f"{start} reaches {module}"
            todo |= {m for m in imports_within(MODULES[module]) if m in MODULES and m != "npconv"} - seen


def test_only_the_entry_imports_the_command_line():
    users = {module for module, name in MODULES.items() if "npconv.cli" in imports_within(name)}
    assert users <= {"npconv.__main__"}


def test_only_the_command_line_imports_the_commands():
    users = {m for m, name in MODULES.items() if any(part(i) == "commands" for i in imports_within(name))}
    assert {m for m in users if part(m) != "commands"} == {"npconv.cli"}


# ---------------------------------------------------------------- what is never written


@pytest.mark.parametrize("name", SOURCES)
def test_no_array_is_ever_unpickled(name):
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant) and node.value.value is False, node.value.lineno


@pytest.mark.parametrize("name", SOURCES)
def test_no_exception_is_caught_without_a_name(name):
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, node.lineno


@pytest.mark.parametrize("name", CORE)
def test_no_user_error_is_an_assert(name):
    assert [node.lineno for node in ast.walk(tree(name)) if isinstance(node, ast.Assert)] == []


# ---------------------------------------------------------------- what every function says of itself


def functions(module: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions and methods, without those defined inside others."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (member for member in node.body if isinstance(member, ast.FunctionDef))


@pytest.mark.parametrize("name", SOURCES)
def test_every_function_is_typed(name):
    for function in functions(tree(name)):
        taken = function.args
        arguments = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg]
        untyped = [a.arg for a in arguments if a and a.annotation is None and a.arg not in ("self", "cls")]
        assert not untyped, f"{function.name} does not say what {untyped} are"
        assert function.returns or function.name == "__init__", (
            f"{function.name} does not say what it returns"
        )


@pytest.mark.parametrize("name", SOURCES)
def test_every_module_says_what_it_is_for(name):
    assert ast.get_docstring(tree(name))


@pytest.mark.parametrize("name", CORE)
def test_every_function_that_other_modules_may_call_says_what_it_does(name):
    for node in tree(name).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


NUMBERED = [name for name in npconv.__all__ if re.search(r"[123]d", name)]


def offered() -> Iterator[tuple[str, object]]:
    """Every name in a package's __all__ that a user calls, but for the numbered ones."""
    for module, name in MODULES.items():
        if name.endswith("__init__.py") and part(module) in ("", "testing", "explain"):
            package = importlib.import_module(module)
            for public in getattr(package, "__all__", []):
                value = getattr(package, public)
                if inspect.isfunction(value) and public not in NUMBERED:
                    yield f"{module}.{public}", value


OFFERED = dict(offered())


@pytest.mark.parametrize("name", OFFERED)
def test_every_public_function_has_an_example_that_prints_its_result(name):
    lines = [line.strip() for line in (inspect.getdoc(OFFERED[name]) or "").splitlines()]
    examples = [number for number, line in enumerate(lines) if line.startswith(">>>")]
    assert examples, "no example"
    printed = [line for line in lines[examples[-1] + 1 :] if not line.startswith("...")]
    assert printed and printed[0], "the last line of the example prints nothing"


@pytest.mark.parametrize("name", OFFERED)
def test_every_public_function_says_what_it_takes_and_gives(name):
    signature = inspect.signature(OFFERED[name])
    assert signature.return_annotation is not signature.empty
    assert [p.name for p in signature.parameters.values() if p.annotation is p.empty] == []


@pytest.mark.parametrize("name", NUMBERED)
def test_every_numbered_name_sends_its_reader_to_the_text(name):
    function = getattr(npconv, name)
    base = function.__wrapped__.__name__
    assert f"npconv.{base}" in OFFERED
    assert base == re.sub(r"[123]d", "", name)
    assert f"`{base}`" in inspect.getdoc(function)


# ---------------------------------------------------------------- the checkout


def test_the_top_level_holds_five_things():
    made = {"build", "dist"}  # by packaging; git ignores them
    there = {
        path.name
        for path in ROOT.iterdir()
        if not path.name.startswith(".") and path.suffix != ".egg-info" and path.name not in made
    }
    assert there == {"pyproject.toml", "npconv", "tests", "README.md", "Makefile"}


def test_the_wheel_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_numpy_is_the_only_dependency():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("dependencies")]
    assert line.split("#")[0].strip() == 'dependencies = ["numpy>=1.26"]'
