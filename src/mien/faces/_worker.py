"""An engine in a separate process, for engines that let one thread of a process run at a time.

The parent writes one JSON line per picture and reads one JSON line per result. A picture
that ends the process costs that one picture: it is named, and a new process is started.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from mien.errors import DataError
from mien.faces._face import PictureResult
from mien.faces._journal import from_record, to_record

__all__ = ["ProcessWorker", "main"]

_READY = "ready"
_LAST_WORDS = 5.0
_MAX_SECONDS = 300.0


class ProcessWorker:
    """The parent's end."""

    def __init__(self, engine: str, max_faces: int | None) -> None:
        self._asked = {"engine": engine, "max_faces": max_faces}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(
            [sys.executable, "-c", "from mien.faces._worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
            env=environment,
        )
        self._process = process
        if self._ask(self._asked) != _READY:
            self.close()
            raise DataError(f"a process with the engine {self._asked['engine']!r} did not start")
        return process

    def _ask(self, question: object) -> object:
        """The answer to one question, or None where the process has ended."""
        ingoing, outgoing = self._process.stdin, self._process.stdout
        if ingoing is None or outgoing is None:
            return None
        # Whatever a picture does to a library, it ends with its time.
        overdue = threading.Timer(_MAX_SECONDS, self._process.kill)
        overdue.daemon = True
        overdue.start()
        try:
            ingoing.write(json.dumps(question) + "\n")
            ingoing.flush()
            line = outgoing.readline()
        except OSError:
            return None
        finally:
            overdue.cancel()
        return json.loads(line) if line.endswith("\n") else None

    def analyse(self, path: Path, keep_crops: bool) -> PictureResult:
        """Analyse a file; every failure is in the result. Crops are left to the caller."""
        answer = self._ask(str(path))
        if isinstance(answer, dict):
            return from_record(answer)
        self.close()
        self._process = self._start()
        reason = f"{str(path)!r} ended the process that analysed it, or took too long"
        return PictureResult(path, "", (0, 0), [], reason)

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """The process's end: answer until the questions end."""
    from mien.faces._analyse import analyse_file
    from mien.faces._engines import load_engine

    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a library prints must not look like an answer
    asked = json.loads(sys.stdin.readline())
    engine = load_engine(asked["engine"])
    print(json.dumps(_READY), file=answers, flush=True)
    for line in sys.stdin:
        result = analyse_file(Path(json.loads(line)), engine, False, asked["max_faces"])
        print(json.dumps(to_record(result)), file=answers, flush=True)
