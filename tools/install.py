"""Install with pip, and show on one line what it does: ``python tools/install.py '.[all]'``.

Needs the standard library only, because nothing else is there yet. Where the output is no terminal,
a line is printed every ten seconds. What pip says is shown if it fails.
"""

from __future__ import annotations

import subprocess
import sys
import time

PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")


def describe(line: str, seen: set[str]) -> str:
    """Words for what pip does now, or an empty string."""
    words = line.split()
    if len(words) < 2:
        return ""
    if words[0] == "Collecting":
        seen.add(words[1])
        return f"looking for {words[1].split('>')[0].split('=')[0]} ({len(seen)} packages so far)"
    if words[0] == "Downloading":
        size = line[line.rfind("(") :].strip() if "(" in line else ""
        return f"fetching {words[1].rsplit('/', 1)[-1].split('-')[0]} {size}".rstrip()
    if line.startswith("Installing collected packages"):
        return f"installing {line.count(',') + 1} packages"
    if line.startswith(("Building", "Preparing")):
        return "building mien"
    return ""


def main() -> int:
    start = shown = time.monotonic()
    live, width = sys.stdout.isatty(), 0
    said: list[str] = []
    seen: set[str] = set()
    done = ""
    command = [sys.executable, *PIP, *sys.argv[1:]]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if line.startswith("Successfully installed"):
                done = line
            words, now = describe(line, seen), time.monotonic()
            if words and live:
                text = f"  {now - start:4.0f} s  {words}"[:79]
                print(f"\r{text:{width}}", end="", flush=True)
                width = len(text)
            elif words and now - shown >= 10:
                shown = now
                print(f"  {now - start:4.0f} s  {words}", flush=True)
    if live and width:
        print(f"\r{'':{width}}\r", end="")
    if process.returncode != 0:
        print("".join(said))
        print(f"pip ended with {process.returncode}; its words are above.")
    else:
        count = max(len(done.split()) - 2, 0)
        print(f"Installed: {count} packages in {time.monotonic() - start:.0f} s.")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
