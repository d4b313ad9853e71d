"""Foreign files of the page: where they come from, and that they are unchanged; types of scripts.

``python -m tools.page`` fetches the packages by name and compares; ``--types`` checks the types of
the page's own scripts with TypeScript. Both need npm, and say so where it is missing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "src" / "mien" / "service" / "page"
WORK = ROOT / ".page-tools"
TYPESCRIPT = "7.0.2"
#: For the tests only; not shipped.
AXE = ("axe-core", "4.14.0")


class Vendored(NamedTuple):
    """A file of somebody else, byte by byte as its package has it."""

    file: str
    package: str
    version: str
    path: str
    licence: str
    sha256: str


VENDORED = (
    Vendored("preact.js", "preact", "11.2.0", "dist/preact.mjs", "MIT",
             "bdcbd9abdf2c77c5c45326eab42191e949222d479d0d5f69467387a77040cb55"),
    Vendored("hooks.js", "preact", "11.2.0", "hooks/dist/hooks.mjs", "MIT",
             "e862ab2973aa6455eaa0f77c5d832d2157d6be59a17c8ba546550a575b58c6b4"),
    Vendored("signals.js", "@preact/signals", "2.11.4", "dist/signals.mjs", "MIT",
             "ba8177597f45acaca4d05dcf3966b527d0a8264cfa2b0a87ace92dff324217f8"),
    Vendored("signals-core.js", "@preact/signals-core", "1.14.5", "dist/signals-core.mjs", "MIT",
             "0c80bc127d72ecb1496ef116ffddae75079829a3af01e7f417c8e5a6474c68b6"),
    Vendored("htm.js", "htm", "3.1.1", "dist/htm.mjs", "Apache-2.0",
             "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4"),
)  # fmt: skip


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(packages: list[str]) -> Path | None:
    """Packages of npm in a folder that Git ignores, or None where there is no npm."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    WORK.mkdir(exist_ok=True)
    (WORK / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--no-save", *packages]
    done = subprocess.run(command, cwd=WORK, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"npm cannot fetch {', '.join(packages)}: {done.stderr[-500:]}")
        return None
    return WORK / "node_modules"


def find_axe() -> Path | None:
    """The script that judges accessibility, fetched if need be; None where it cannot be."""
    name, version = AXE
    place = WORK / "node_modules" / name
    known = place / "package.json"
    there = known.exists() and json.loads(known.read_text(encoding="utf-8"))["version"] == version
    # Everything at once: npm removes what is not named.
    wanted = [*_packages(), f"typescript@{TYPESCRIPT}", f"{name}@{version}"]
    return place / "axe.min.js" if there or install(wanted) is not None else None


def _packages() -> list[str]:
    return sorted({f"{one.package}@{one.version}" for one in VENDORED})


def compare() -> int:
    """Fetch each package and compare its file with ours."""
    modules = install(_packages())
    if modules is None:
        print("npm is missing or offline: the vendored files were not compared")
        return 0
    wrong = 0
    for one in VENDORED:
        same = digest(modules / one.package / one.path) == digest(PAGE / "vendor" / one.file)
        wrong += not same
        print(f"{one.file}: {one.package} {one.version} {'is the same' if same else 'DIFFERS'}")
    return 1 if wrong else 0


def check_types() -> int:
    """Types of the page's scripts, from their comments."""
    modules = install([*_packages(), f"typescript@{TYPESCRIPT}", "@".join(AXE)])
    if modules is None:
        print("npm is missing or offline: the types of the page were not checked")
        return 0
    settings = {
        "compilerOptions": {
            "allowJs": True, "checkJs": True, "noEmit": True, "strict": True, "target": "es2022",
            "module": "esnext", "moduleResolution": "bundler", "skipLibCheck": True, "types": [],
            "lib": ["es2023", "dom", "dom.iterable"],
            "paths": {"*": [f"{modules.as_posix()}/*"]},
        },
        "include": [f"{PAGE.as_posix()}/**/*.js"],
        "exclude": [f"{PAGE.as_posix()}/vendor"],
    }  # fmt: skip
    (WORK / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    compiler = modules / ".bin" / "tsc"
    done = subprocess.run([str(compiler), "-p", str(WORK)], text=True, check=False)
    print("the page's types are right" if done.returncode == 0 else "the page's types are wrong")
    return done.returncode


if __name__ == "__main__":
    sys.exit(check_types() if "--types" in sys.argv else compare())
