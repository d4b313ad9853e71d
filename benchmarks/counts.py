"""Counts of the source: ``python -m benchmarks.counts`` prints the numbers of docs/architecture.md.

It reads files as text and imports nothing of mien.
"""

from __future__ import annotations

import ast
import statistics
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "mien"
LEARNERS = (
    "committee", "completion", "kernelmaps", "multiview", "sparse", "subspace", "verification",
)  # fmt: skip
#: One verb at several storeys: a command, a route of the service (and of each API that it speaks),
#: a function on photographs or on crops, a change of rows. Each calls the next.
STOREYS = ("cli", "crops", "distributed", "gallery", "recognition", "service")
#: Names that mean the same wherever they are defined.
CONVENTIONS = {
    "cli": {"run"},  # what a command runs
    "datasets": {"LICENCE", "PREPARED", "SIGNS", "SOURCE", "tree_below"},  # of one data set
    "service": {"log", "router"},  # FastAPI's routes, the logger
}
#: The entry of a process, and a type variable.
ANYWHERE = {"T", "main"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _docstring_lines(tree: ast.Module) -> int:
    lines = 0
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines += (text.end_lineno or text.lineno) - text.lineno + 1
    return lines


def _names(tree: ast.Module) -> set[str]:
    """Names that a module defines at its top."""
    found = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("__")}


def find_shared_names() -> dict[str, list[str]]:
    """Public names that two or more modules define, and where; twins of kernels aside."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.name.endswith("_numba.py"):
            for name in _names(ast.parse(path.read_text(encoding="utf-8"))):
                if not name.startswith("_"):
                    homes[name].append(path.relative_to(SOURCE).as_posix())
    return {name: files for name, files in sorted(homes.items()) if len(files) > 1}


def explain_shared_name(name: str, files: list[str]) -> str:
    """Why a name may be defined in several files: "convention", "storeys", or "" for no reason."""
    packages = {file.split("/")[0] for file in files}
    if name in ANYWHERE or any(packages == {p} and name in CONVENTIONS[p] for p in CONVENTIONS):
        return "convention"
    if not packages <= set(STOREYS):
        return ""
    # The service may define a verb once per API that it speaks.
    storeys = [
        file.split("/")[1].split("_")[1] if file.startswith("service/") else file.split("/")[0]
        for file in files
    ]
    return "storeys" if len(set(storeys)) == len(storeys) else ""


def find_repeated_functions(n_lines: int = 3) -> list[list[str]]:
    """Functions of at least so many lines, docstring aside, that are written twice."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                text = "\n".join(map(ast.unparse, body))
                # Tags are scikit-learn's form: a class says which apply to it.
                if text.count("\n") + 1 >= n_lines and node.name != "__sklearn_tags__":
                    file = path.relative_to(SOURCE).as_posix()
                    places[text].append(f"{file}:{node.lineno} {node.name}")
    return [found for found in places.values() if len(found) > 1]


def main() -> None:
    """Print the counts."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = {path: text.count("\n") for path, text in texts.items()}
    packages: dict[str, int] = defaultdict(int)
    for path, n in lines.items():
        packages[path.relative_to(SOURCE).parts[0]] += n
    modules = {path: n for path, n in lines.items() if path.name != "__init__.py"}
    longest = max(modules, key=lambda path: modules[path])
    print(f"lines of Python: {sum(lines.values()):,}")
    print("  " + ", ".join(f"{name} {n:,}" for name, n in sorted(packages.items())))
    print(f"median file: {statistics.median(modules.values()):g} lines")
    print(f"longest file: {modules[longest]} lines, {longest.relative_to(SOURCE)}")
    for package in LEARNERS:
        mine = [path for path in trees if path.relative_to(SOURCE).parts[0] == package]
        written = sum(1 for path in mine for line in texts[path].splitlines() if line.strip())
        share = sum(_docstring_lines(trees[path]) for path in mine) / written
        print(f"docstrings in {package}: {share:.0%}")
    estimators = [
        ast.get_docstring(node) or ""
        for path, tree in trees.items()
        if path.relative_to(SOURCE).parts[0] in (*LEARNERS, "features", "evaluation")
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and "_parameter_constraints" in ast.unparse(node)
    ]
    for section in ("See Also", "References"):
        found = sum(section in text for text in estimators)
        print(f"estimators and their bases with {section}: {found} of {len(estimators)}")
    shared = find_shared_names()
    reasons = [explain_shared_name(name, files) for name, files in shared.items()]
    print(
        f"public names defined in two files: {len(shared)}; one verb at several storeys "
        f"{reasons.count('storeys')}, conventions {reasons.count('convention')}, "
        f"others {reasons.count('')}"
    )
    print(f"functions written twice: {len(find_repeated_functions())}")


if __name__ == "__main__":
    main()
