"""Benchmarks that need real data say so where there are none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import bench_same, bench_startup, first_hour, sorting, trees, walks
from benchmarks.__main__ import main
from benchmarks.data import find_data, run_command
from benchmarks.measure import Row
from mien.errors import MissingDataError

COMMANDS: dict[str, Callable[[Path], int | None]] = {
    **{
        name: lambda _, name=name: main([name]) for name in ("photos", "same", "tilted", "open_set")
    },
    "sorting": lambda _: sorting.main([]),
    "trees": lambda _: trees.main([]),
    "walks identify": lambda _: walks.main(["identify"]),
    "walks complete": lambda _: walks.main(["complete"]),
    "first_hour": lambda folder: first_hour.main(["--work", str(folder / "work")]),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("has_home", [False, True])
def test_missing_data_are_an_error_of_one_sentence(
    name: str,
    has_home: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("MIEN_DATA", raising=False)
    if has_home:
        monkeypatch.setenv("MIEN_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        run_command(partial(COMMANDS[name], tmp_path))
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert (str(tmp_path) if has_home else "MIEN_DATA") in said


def test_all_jobs_are_run_where_one_has_no_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MIEN_DATA", raising=False)
    monkeypatch.setattr(
        "pkgutil.iter_modules",
        lambda _: [SimpleNamespace(name=name) for name in ("bench_same", "bench_startup")],
    )
    monkeypatch.setattr(bench_startup, "rows", lambda: [Row("import", "NumPy", 0.5)])
    main([])
    first, second = capsys.readouterr().out.split("\nsame\n")[1].split("\nstartup\n")
    assert "stopped: this benchmark needs photos/five_people" in first
    assert "NumPy" in second


def test_data_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    monkeypatch.setenv("MIEN_DATA", str(tmp_path))
    assert find_data("photos") == tmp_path / "photos"
    with pytest.raises(MissingDataError, match="needs photos/five_people"):
        list(bench_same.rows())


def test_commands_end_with_their_own_code() -> None:
    for code in (0, 1, None):
        with pytest.raises(SystemExit) as ended:
            run_command(lambda code=code: code)
        assert ended.value.code == code
