"""The direction of imports, what each room may load, and that ``__all__`` is true."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "mien"

LEARNERS = {"verification", "committee", "subspace", "kernelmaps", "sparse", "multiview"}
BELOW = LEARNERS | {"_core", "errors", "files", "evaluation", "features", "faces", "datasets"}
BELOW |= {"gallery"}
# room -> the rooms that it may import beside itself and errors
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "files": {"_core"},
    "_core": set(),
    "verification": {"_core"},
    "committee": {"_core"},
    "kernelmaps": {"_core"},
    "sparse": {"_core"},
    "subspace": {"_core", "kernelmaps"},
    "multiview": {"_core"},
    "reconstruction": {"_core", "kernelmaps", "sparse", "multiview"},
    "evaluation": {"_core"},
    "features": {"_core"},
    "faces": {"_core", "features"},
    "datasets": {"_core", "faces"},
    "gallery": {"_core", "verification", "files"},
    "recognition": BELOW | {"gallery", "reconstruction"},
    "experiments": BELOW | {"gallery", "recognition", "reconstruction"},
    "cli": BELOW | {"gallery", "recognition", "reconstruction", "experiments"},
}
# package -> the only places that may import it
HOMES = {
    "cryptography": ("gallery/_sealing.py",),
    "cv2": ("faces/", "features/_flow.py"),
    "dlib": ("faces/_dlib.py",),
    "numba": ("*/_*_numba.py",),
    "matplotlib": ("evaluation/plots/",),
    "typer": ("cli/",),
    "PIL": ("faces/", "evaluation/_report_parts.py"),
    "usearch": ("gallery/_approximate.py",),
}


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _imports(path: Path) -> set[str]:
    """Every module that a file imports, also inside functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found.add(node.module or "")
    return found


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        return
    for name in _imports(path):
        if name == "mien" or not name.startswith("mien."):
            assert name != "mien" or room in {"cli", "experiments"}, "import from the room itself"
            continue
        target = name.split(".")[1]
        assert target in ALLOWED[room] | {room, "errors"}, f"{room} may not import {target}"


@pytest.mark.parametrize("package", HOMES)
def test_heavy_packages_have_one_home(package: str) -> None:
    strangers = []
    for path in _modules():
        place = path.relative_to(SOURCE)
        at_home = any(
            place.match(home) if "*" in home else place.as_posix().startswith(home)
            for home in HOMES[package]
        )
        if not at_home and any(name.split(".")[0] == package for name in _imports(path)):
            strangers.append(place.as_posix())
    assert strangers == []


def test_no_pickle_anywhere() -> None:
    for path in _modules():
        assert not {"pickle", "joblib", "dill", "cloudpickle"} & _imports(path) or (
            "joblib" in _imports(path) and "joblib.dump" not in path.read_text(encoding="utf-8")
        ), f"{path} imports a pickler"


def test_import_is_light_and_quick() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import mien; "
        "took = time.perf_counter() - start; "
        "heavy = {'sklearn', 'scipy', 'numba', 'cv2', 'matplotlib', 'skimage', 'typer', 'rich'}; "
        "print(took, sorted(heavy & set(sys.modules)))"
    )
    took, loaded = min(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split(maxsplit=1)
        for _ in range(3)
    )
    assert loaded.strip() == "[]"
    assert float(took) < 0.5


def _order(name: str) -> tuple[int, str]:
    """Constants, classes, functions: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_all_is_sorted_and_true(path: Path) -> None:
    if path.name.endswith("_numba.py") or path.name == "__main__.py":
        return
    relative = path.relative_to(SOURCE.parent).with_suffix("")
    module = importlib.import_module(".".join(relative.parts).removesuffix(".__init__"))
    names = getattr(module, "__all__", [])
    # lazy_loader sorts the names of a door by itself.
    assert list(names) in (sorted(names, key=_order), sorted(names))
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(module, name)
