"""Run the tests with the lowest versions that pyproject.toml allows.

Every bound ``name>=x`` of the package and its extras becomes ``name==x``; what those packages
need themselves is as new as they allow.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.environments import ROOT, TESTING, InstallError, find_python, make_environment
from tools.everywhere import Variant, run_variant, show


def lowest_versions() -> dict[str, str]:
    """Name and lowest allowed version of every package that mien asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"]]
    extras = project["optional-dependencies"]
    for extra in re.findall(r"\w+", extras["all"][0])[1:]:
        wanted += extras[extra]
    found = {}
    for requirement in wanted:
        match = re.match(r"([\w.-]+)(?:\[[^\]]*\])?\s*(?:>=|==)\s*([\w.]+)", requirement)
        if match:
            found[match[1]] = match[2]
    return found


def main() -> int:
    pins = lowest_versions()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ].removeprefix(">=")
    python = find_python(version)
    if python is None:
        print(f"not run: no Python {version} on the PATH, in pyenv or in uv")
        return 0
    print(f"Python {version}: " + ", ".join(f"{name} {number}" for name, number in pins.items()))
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "lowest.txt")
        lines = [f"{name}=={number}\n" for name, number in pins.items()]
        constraints.write_text("".join(lines), encoding="utf-8")
        packages = ["--editable", ".[all]", *TESTING]
        try:
            inside = make_environment("oldest", python, packages, constraints=constraints)
        except InstallError as error:
            print(f"cannot be installed:\n{error}")
            return 1
    outcome = run_variant(Variant("oldest", "the lowest versions", python=lambda: inside))
    show([outcome])
    return 1 if outcome.failed else 0


if __name__ == "__main__":
    sys.exit(main())
