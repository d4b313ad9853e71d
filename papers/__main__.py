"""``python -m papers``: list the papers; ``python -m papers NAME [OPTIONS]``: run one."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def list_papers() -> dict[str, str]:
    """Names on the command line and what each paper is about, without importing any of them."""
    found = {}
    for place in sorted(HERE.glob("*/__main__.py")):
        text = (place.parent / "__init__.py").read_text(encoding="utf-8")
        about = ast.get_docstring(ast.parse(text)) or ""
        found[place.parent.name.replace("_", "-")] = about.split("\n")[0]
    return found


def main(arguments: list[str]) -> int:
    """Run the paper that the first argument names, with the other arguments."""
    papers = list_papers()
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, papers))
        lines = [f"  {name:{width}}  {about}" for name, about in papers.items()]
        usage = "Usage: python -m papers NAME [OPTIONS]; NAME --help lists the options of one."
        sys.stdout.write("\n".join([usage, "", *lines]) + "\n")
        return 0
    name, *options = arguments
    if name not in papers:
        sys.stderr.write(f"error: there is no paper {name!r}; there are {', '.join(papers)}\n")
        return 2
    module = importlib.import_module(f"papers.{name.replace('-', '_')}.__main__")
    from papers._command import run_command

    return run_command(module.main, name, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
