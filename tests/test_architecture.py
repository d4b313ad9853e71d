"""The direction of imports, the doors of packages, the homes of heavy dependencies.

What is allowed stands in ``docs/architecture.toml``, from which the picture and the tables of the
documentation are made as well.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extras import missing_extra

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mien"
TABLE = tomllib.loads((ROOT / "docs" / "architecture.toml").read_text(encoding="utf-8"))
ROOMS: dict[str, set[str]] = {name: set(room["imports"]) for name, room in TABLE["rooms"].items()}


def _modules() -> list[Path]:
    return sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")])


def _show(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def find_imports(text: str) -> Iterator[str]:
    """Every module that a text imports: also inside functions, for types only, and by name.

    A module is imported by name when a call of ``require`` or ``import_module`` has its name as
    the first argument.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.module or ""
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            function = node.func
            called = getattr(function, "id", getattr(function, "attr", ""))
            first = node.args[0]
            if called in {"require_module", "import_module", "__import__"} and isinstance(
                first, ast.Constant
            ):
                yield str(first.value)


def is_at_home(place: str, homes: list[str]) -> bool:
    """Whether a file (relative to the package) stands in one of the homes."""
    return any(
        place.startswith(home) if home.endswith("/")
        else fnmatch.fnmatch(place.rsplit("/", 1)[-1], home) if "/" not in home
        else place == home
        for home in homes
    )  # fmt: skip


def find_strangers(package: str, files: dict[str, str]) -> list[str]:
    """Files that import a heavy package outside its homes."""
    homes = TABLE["packages"][package]["homes"]
    return [
        place
        for place, text in files.items()
        if not is_at_home(place, homes)
        and any(name.split(".")[0] == package for name in find_imports(text))
    ]


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].split(".")[0]


def test_the_wheel_does_not_need_the_checkout() -> None:
    outside = {"papers", "benchmarks", "tests", "docs"}
    for path in _modules():
        found = {name.split(".")[0] for name in find_imports(path.read_text(encoding="utf-8"))}
        assert not found & outside, f"{_show(path)} imports {sorted(found & outside)}"


def test_every_room_is_in_the_table() -> None:
    there = {_room(path) for path in _modules()} - {"__init__", "__main__"}
    assert there <= set(ROOMS), f"not in docs/architecture.toml: {sorted(there - set(ROOMS))}"


@pytest.mark.parametrize("path", _modules(), ids=_show)
def test_imports_go_one_way(path: Path) -> None:
    room = _room(path)
    if room in {"__init__", "__main__"}:
        return
    for name in find_imports(path.read_text(encoding="utf-8")):
        parts = name.split(".")
        if parts[0] != "mien" or len(parts) == 1:
            continue
        target = parts[1]
        if target in ROOMS:
            assert target in ROOMS[room] | {room, "errors"}, f"{room} may not import {target}"


@pytest.mark.parametrize("path", _modules(), ids=_show)
def test_rooms_are_entered_through_their_doors(path: Path) -> None:
    """Another room's modules are its own affair; only ``_core`` is imported by module."""
    room = _room(path)
    for name in find_imports(path.read_text(encoding="utf-8")):
        parts = name.split(".")
        if parts[0] != "mien" or len(parts) < 3 or parts[1] in {room, "_core"}:
            continue
        inside = SOURCE / parts[1] / parts[2]
        assert not inside.is_dir(), f"{name} is inside another room"
        assert not inside.with_suffix(".py").exists(), f"{name} is inside another room"


def test_modules_inside_a_room_are_private() -> None:
    public = [
        _show(path)
        for path in _modules()
        if _room(path) not in {"_core", "errors", "__init__", "__main__"}
        and any(not part.startswith("_") for part in path.relative_to(SOURCE).parts[1:])
    ]
    assert public == []


@pytest.mark.parametrize("package", TABLE["packages"])
def test_heavy_packages_have_one_home(package: str) -> None:
    files = {_show(path): path.read_text(encoding="utf-8") for path in _modules()}
    assert find_strangers(package, files) == []


@pytest.mark.parametrize("package", TABLE["packages"])
@pytest.mark.parametrize(
    "statement",
    [
        "import {0}",
        "from {0}.part import thing",
        "def f():\n    import {0} as x",
        "tool = require_module('{0}', 'extra', 'a purpose')",
        "tool = validation.require_module('{0}.part', 'extra', 'a purpose')",
        "tool = importlib.import_module('{0}')",
    ],
)
def test_a_stranger_is_found(package: str, statement: str) -> None:
    """The test above can fail, whatever the way in which a package is imported."""
    text = statement.format(package)
    assert find_strangers(package, {"verification/_scoring.py": text}) == [
        "verification/_scoring.py"
    ]


def find_picklers(text: str) -> list[str]:
    """Ways in which a text could read or write a pickle."""
    found = [
        name
        for name in find_imports(text)
        if name.split(".")[0] in {"pickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
        or name in {"joblib.load", "joblib.dump", "joblib.Memory"}
    ]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner == "joblib" and node.attr in {"load", "dump", "Memory"}:
                found.append(f"joblib.{node.attr}")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            said_no = isinstance(node.value, ast.Constant) and node.value.value is False
            found += [] if said_no else ["allow_pickle"]
    return found


def test_no_pickle_anywhere() -> None:
    found = {_show(path): find_picklers(path.read_text(encoding="utf-8")) for path in _modules()}
    assert {place: names for place, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib\njoblib.load('x')",
        "from joblib import dump",
        "np.load('x', allow_pickle=True)",
        "np.load('x', allow_pickle=flag)",
    ],
)
def test_a_pickler_is_found(text: str) -> None:
    assert find_picklers(text) != []


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, mien; "
        "heavy = {'sklearn', 'scipy', 'numba', 'cv2', 'matplotlib', 'skimage', 'typer', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _order(name: str) -> tuple[int, str]:
    """Constants, classes, functions: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=_show)
def test_all_is_sorted_and_true(path: Path) -> None:
    if path.name.endswith("_numba.py") or path.name == "__main__.py":
        return
    if _room(path) == "service" and (reason := missing_extra("service")):
        pytest.skip(reason)
    relative = path.relative_to(SOURCE.parent).with_suffix("")
    module = importlib.import_module(".".join(relative.parts).removesuffix(".__init__"))
    names = list(getattr(module, "__all__", []))
    if not path.with_suffix(".pyi").exists():
        assert names == sorted(names, key=_order)
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(module, name)


def test_the_picture_and_the_tables_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_architecture.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
