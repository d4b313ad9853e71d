"""Follow a tutorial to the letter: run its commands and its Python, in order, in an empty folder.

    python -m tools.follow                       # all tutorials, and the time that each takes
    python -m tools.follow docs/tutorials/x.md   # one
    python -m tools.follow --write               # also replace the outputs that the pages show

Blocks of ``sh`` are run by bash, blocks of ``python`` in one Python process. A block of ``text``
right after a block of ``sh`` is what the commands print: ``--write`` puts the real output there, so
that no page shows an output that nobody saw. A command that fails stops the tutorial. ``--write``
also puts the time that the commands took under the title, and copies the pictures that the page
shows: ``<!-- made: album/pair.png -->`` right before an image names the file that the
commands wrote. A web page (``report.html``) is photographed, where Chromium and playwright are
installed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"^\*Followed to the letter.*?\*\n\n", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"<!-- made: (\S+) -->\n+!\[[^\]]*\]\((\S+)\)")
_WIDTH = 100
_COLUMNS = 92  # of a page, without scrolling
_WIDEST = 1000  # pixels of a picture on a page


@dataclass
class Outcome:
    page: Path
    seconds: float
    cpu: float
    blocks: int
    failed: str = ""


class _Shell:
    """One bash and one Python process per block, in one folder, with mien on the path."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.python: list[str] = []
        self.sessions: list[int] = []
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": str(_WIDTH),
            "NO_COLOR": "1",
            "HOME": str(place / ".home"),
            "XDG_STATE_HOME": str(place / ".home"),
        }

    def run(self, kind: str, code: str) -> tuple[int, str, str]:
        if kind == "python":
            # What came before is run again, silently: blocks share their names.
            before = "\n".join(self.python)
            program = (
                "import contextlib, io\n"
                "names = {'__name__': '__main__'}\n"
                f"with contextlib.redirect_stdout(io.StringIO()):\n    exec({before!r}, names)\n"
                f"exec({code!r}, names)\n"
            )
            self.python.append(code)
            command = [sys.executable, "-W", "ignore", "-c", program]
        else:
            command = ["bash", "-e", "-c", code]
        process = subprocess.Popen(
            command,
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # what a block leaves in the background is ended with the page
        )
        self.sessions.append(process.pid)
        output, errors = process.communicate(timeout=600)
        return process.returncode, output, errors

    def close(self) -> None:
        """End whatever the blocks left running."""
        for session in self.sessions:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(session, signal.SIGTERM)


def _tidy(output: str) -> str:
    """What is printed, without padding at the ends; sentences are wrapped, as a terminal would."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    return "\n".join(part for line in lines for part in _wrap(line))


def _wrap(line: str) -> list[str]:
    if len(line) <= _COLUMNS or "  " in line.strip():  # rows of a table stay whole
        return [line]
    return textwrap.wrap(line, _COLUMNS, break_long_words=False, break_on_hyphens=False)


def follow(page: Path, write: bool = False) -> Outcome:
    """Run the blocks of one page; with ``write`` also replace its outputs."""
    text = page.read_text(encoding="utf-8")
    start, before, blocks, failed = time.perf_counter(), os.times(), 0, ""
    pieces, end, output = [], 0, None
    with tempfile.TemporaryDirectory() as folder:
        shell = _Shell(Path(folder))
        (Path(folder) / ".home").mkdir()
        for found in _FENCE.finditer(text):
            kind, code = found.groups()
            between = text[end : found.start()]
            if kind == "text" and output is not None and not between.strip():
                pieces.append(f"{between}```text\n{_tidy(output)}\n```")
                output = None
            else:
                pieces.append(between + found.group(0))
                output = None
                if kind in {"sh", "python"}:
                    code_of, output, errors = shell.run(kind, code)
                    blocks += 1
                    if code_of:
                        line = text[: found.start()].count("\n") + 1
                        failed = f"line {line}: exit {code_of}\n{output}\n{errors}"
                        break
            end = found.end()
        if write and not failed:
            for made, shown in _PICTURE.findall(text):
                copy_picture(Path(folder) / made, page.parent / shown)
        shell.close()
    seconds, after = time.perf_counter() - start, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])  # of the children
    if write and not failed:
        whole = state_time("".join(pieces) + text[end:], blocks, seconds, cpu)
        page.write_text(whole, encoding="utf-8")
    return Outcome(page, seconds, cpu, blocks, failed)


def copy_picture(made: Path, shown: Path) -> None:
    """Put a picture that a tutorial made where its page shows it, at most ``_WIDEST`` wide."""
    from PIL import Image

    if not made.exists():
        raise SystemExit(f"{shown.name} is to show {made.name}, which the commands did not write")
    shown.parent.mkdir(parents=True, exist_ok=True)
    if made.suffix == ".html":
        _photograph(made, shown)
        return
    with Image.open(made) as picture:
        plain = picture.convert("RGB")
    plain.thumbnail((_WIDEST, _WIDEST))
    plain.save(shown)


def _photograph(page: Path, shown: Path) -> None:
    """The upper part of a web page as a picture; a warning where no browser is installed."""
    chromium = shutil.which("chromium")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print(f"{shown.name} stays as it is: Chromium and playwright are needed", file=sys.stderr)
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        view = browser.new_page(viewport={"width": 900, "height": 1090})
        view.goto(page.as_uri())
        view.screenshot(path=str(shown))
        browser.close()


def state_time(text: str, blocks: int, seconds: float, cpu: float) -> str:
    """Put the time under the title of a page, in place of the one that stands there."""
    title, _, rest = _TIME.sub("", text).partition("\n\n")
    words = (
        "*Followed to the letter in a fresh environment (`python -m tools.follow`): "
        f"{blocks} blocks, {seconds:.0f} s, of which {cpu:.0f} s of processor time.*"
    )
    return f"{title}\n\n{words}\n\n{rest}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Follow the tutorials to the letter.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the outputs on the pages")
    options = parser.parse_args()
    pages = options.pages or sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    outcomes = []
    for page in pages:
        outcome = follow(page, options.write)
        outcomes.append(outcome)
        verdict = "FAILED" if outcome.failed else "ok"
        print(
            f"{page.name:32s} {outcome.blocks:3d} blocks {outcome.seconds:7.1f} s "
            f"({outcome.cpu:.1f} s of CPU)  {verdict}",
            flush=True,
        )
        if outcome.failed:
            print(outcome.failed)
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
