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


def main() -> None:
    """Print the counts."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = {path: text.count("\n") for path, text in texts.items()}
    packages: dict[str, int] = defaultdict(int)
    homes: dict[str, int] = defaultdict(int)
    for path, n in lines.items():
        packages[path.relative_to(SOURCE).parts[0]] += n
        if not path.name.endswith("_numba.py"):
            for name in _names(trees[path]):
                homes[name] += 1
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
    twice = [name for name, n in homes.items() if n > 1]
    public = sum(not name.startswith("_") for name in twice)
    print(f"names defined in two files: {len(twice)}, of which public {public}")


if __name__ == "__main__":
    main()
