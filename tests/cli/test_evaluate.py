"""`mien evaluate`: any system's table of scores, and what is said when it cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, InputError, MienError, MissingDataError
from mien.evaluation import cllr, equal_error_rate, verification_rate
from mien.reports import evaluate_scores, read_scores, report_scores

runner = CliRunner()


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def make_table(
    path: Path, n: int = 400, people: bool = False
) -> tuple[Path, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    same = np.arange(n) % 4 == 0
    scores = rng.normal(2.0 * same, 1).round(3)
    lines = ["score,same,other" + (",person_a,person_b" if people else "")]
    for k in range(n):
        a, b = k % 20, (k % 20 if same[k] else (k + 1 + k % 7) % 20)
        b = b if same[k] or b != a else (b + 1) % 20
        ids = f",p{a},p{b}" if people else ""
        lines.append(f"{scores[k]},{'yes' if same[k] else 'no'},{-scores[k]}{ids}")
    return write(path, "\n".join(lines) + "\n"), scores[same], scores[~same]


def run(*arguments: object) -> tuple[str, str]:
    result = runner.invoke(app, ["evaluate", *map(str, arguments)])
    if result.exception is not None and isinstance(result.exception, MienError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


# ---------------------------------------------------------------- the numbers


def test_json_has_the_numbers_of_the_metrics(tmp_path: Path) -> None:
    path, genuine, impostor = make_table(tmp_path / "s.csv")
    document = json.loads(run(path, "--json", "--far", 0.1, "--far", 0.02)[0])
    (system,) = document["systems"]
    assert system["name"] == "score"
    assert system["n_genuine"] == genuine.size
    assert system["eer"]["value"] == pytest.approx(equal_error_rate(genuine, impostor))
    rates = {row["far"]: row["value"] for row in system["verification_rates"]}
    assert rates[0.02] == pytest.approx(verification_rate(genuine, impostor, 0.02))
    for row in system["thresholds"]:
        assert np.mean(impostor >= row["threshold"]) <= row["far"]
    assert system["min_cllr"]["value"] <= system["calibrated_cllr"] < 1


def test_distances_give_the_same_numbers_with_thresholds_in_their_own_units(tmp_path: Path) -> None:
    path, genuine, impostor = make_table(tmp_path / "s.csv")
    document = json.loads(run(path, "--json", "--score", "other", "--distance", "--far", 0.05)[0])
    (system,) = document["systems"]
    assert system["eer"]["value"] == pytest.approx(equal_error_rate(genuine, impostor))
    (row,) = system["thresholds"]
    accepted = -impostor <= row["threshold"]
    assert 0 < np.mean(accepted) <= 0.05
    assert "at or below" in run(path, "--score", "other", "--distance")[0]


def test_thresholds_refuse_what_the_data_cannot_measure(tmp_path: Path) -> None:
    path, *_ = make_table(tmp_path / "s.csv")
    out, _ = run(path, "--far", 0.05, "--far", 0.001)
    assert "A FAR of 0.1 % needs 3,000 pairs of different people, and there are 300." in " ".join(
        out.split()
    )
    assert "VR at FAR 0.1 %" not in out
    row = json.loads(run(path, "--far", 0.001, "--json")[0])["systems"][0]["thresholds"][0]
    assert row["threshold"] is None
    assert "3000" in row["refused"]


def test_people_are_resampled_and_held_out(tmp_path: Path) -> None:
    table = read_scores(make_table(tmp_path / "s.csv", people=True)[0])
    assert table.people is not None
    result = evaluate_scores(table)
    assert result["systems"][0]["intervals"] == "person"
    assert result["systems"][0]["n_people"] == 20
    ratios = result["systems"][0]["_ratios"]
    assert result["systems"][0]["calibrated_cllr"] == pytest.approx(cllr(*ratios))
    assert not np.isnan(np.concatenate(ratios)).any()  # every pair was judged once


def test_calibration_never_sees_the_people_it_is_tested_on(tmp_path: Path) -> None:
    from mien.reports._scores import _fold_of_pairs

    table = read_scores(make_table(tmp_path / "s.csv", people=True)[0])
    assert table.people is not None
    tested = np.zeros(table.same.size, dtype=int)
    for train, test in _fold_of_pairs(table.same, table.people, 5, 0):
        assert not set(table.people[train].ravel()) & set(table.people[test].ravel())
        tested += test
    assert np.all(tested == 1)


def test_several_systems_come_best_first(tmp_path: Path) -> None:
    path, *_ = make_table(tmp_path / "s.csv")
    out, _ = run(path, "--all")
    assert out.startswith("2 systems compared")
    assert out.index("\nscore ") < out.index("\nother ")


@pytest.mark.needs("plots")
def test_report_has_every_figure_and_stands_by_itself(tmp_path: Path) -> None:
    path, *_ = make_table(tmp_path / "s.csv")
    _, messages = run(path, "--out", tmp_path / "r")
    assert str(tmp_path / "r" / "report.html") in messages
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    for words in ("ROC", "DET", "Tippett", "EER", "min Cllr"):
        assert words in page
    assert "http" not in page.replace("http-equiv", "")
    assert json.loads((tmp_path / "r" / "report.json").read_text())["parts"]


def test_llr_gives_cllr(tmp_path: Path) -> None:
    path, genuine, impostor = make_table(tmp_path / "s.csv")
    system = json.loads(run(path, "--llr", "--json")[0])["systems"][0]
    assert system["cllr"]["value"] == pytest.approx(cllr(genuine, impostor))


def test_published_distances_of_four_systems(data_home: Path) -> None:
    path = data_home / "scores" / "four_systems_280_pairs.csv"
    if not path.exists():
        pytest.skip("the scores of the four systems are not here")
    table = read_scores(path, every=True, same="decision", distance=True)
    assert len(table.scores) == 11
    result = evaluate_scores(table)
    assert result["systems"][0]["name"].startswith("Facenet")
    rates = [system["eer"]["value"] for system in result["systems"]]
    assert rates == sorted(rates)
    assert report_scores(result, figures=False).title == "11 systems compared"


# ---------------------------------------------------------------- all kinds of table

GOOD = "score,same\n0.9,1\n0.1,0\n0.8,1\n0.2,0\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(",", ";").replace("0.", "0,"),
        GOOD.replace(",", "\t"),
        GOOD.replace(",", "|"),
        GOOD.replace("score,same", "Score, SAME "),
        GOOD.replace(",1", ",TRUE").replace(",0\n", ",false\n"),
        GOOD.replace(",1", ',"Yes"').replace(",0\n", ",No\n"),
        GOOD.rstrip("\n"),
        GOOD + "\n\n",
        'note,score,same\n"a, ""b""\nc",0.9,1\n,0.1,0\nx,0.8,1\nx,0.2,0\n',
    ],
)
def test_tables_of_all_kinds(tmp_path: Path, text: str) -> None:
    table = read_scores(write(tmp_path / "s.csv", text))
    assert table.same.tolist() == [True, False, True, False]
    assert next(iter(table.scores.values())).tolist() == [0.9, 0.1, 0.8, 0.2]


def test_failed_comparisons_count_as_refused(tmp_path: Path) -> None:
    path, genuine, impostor = make_table(tmp_path / "s.csv")
    write(path, path.read_text() + ",yes,1\nNaN,yes,1\n,no,1\n")
    with pytest.raises(DataError, match=r"line 402, column 'score': nothing where a score"):
        read_scores(path)
    system = json.loads(run(path, "--failures", "--json", "--far", 0.1)[0])["systems"][0]
    assert system["failures"] == {"genuine": 2, "impostor": 1}
    assert system["n_genuine"] == genuine.size + 2
    clean = verification_rate(genuine, np.append(impostor, -99), 0.1)
    assert system["verification_rates"][0]["value"] == pytest.approx(
        clean * genuine.size / (genuine.size + 2)
    )
    assert "failed" in run(path, "--failures")[0]


def test_large_tables_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mien.reports._score_files._CHUNK", 7)
    path, genuine, impostor = make_table(tmp_path / "s.csv", people=True)
    table = read_scores(path)
    np.testing.assert_array_equal(table.scores["score"][table.same], genuine)
    np.testing.assert_array_equal(table.scores["score"][~table.same], impostor)
    write(path, path.read_text() + "x,1,0,a,a\n")
    with pytest.raises(DataError, match=r"line 402, column 'score'.*'x'"):
        read_scores(path)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("score,same\n", "no pairs"),
        ("a,b\n1,1\n", r"line 1: there is no column 'same'.*'a', 'b'.*--same"),
        ("same,b\n1,1\n", r"line 1: there is no column 'score'.*--score"),
        ("0.9,1\n0.1,0\n", "line 1: the first line must name the columns"),
        ("score,score,same\n1,1,1\n", "line 1: the column 'score' comes more than once"),
        ("score,same\n0.9,1\nhigh,0\n", "line 3, column 'score': expected a number; got 'high'"),
        ("score,same\n0.9,1\n1_0,0\n", "line 3, column 'score': expected a number"),
        ("score,same\n0.9,1\nnan,0\n", "line 3, column 'score': 'nan' where a score should be"),
        ("score,same\n0.9,1\n0.1,maybe\n", "line 3, column 'same': expected 1/0.*got 'maybe'"),
        ("score,same\n0.9,1\n0.1\n", "line 3: 1 fields, and the first line names 2"),
        ("score,same\n0.9,1\n0.1,0,5\n", "line 3: 3 fields"),
        ("score,same\n0.9,1\n0.1,1\n", "all 2 pairs are of the same person"),
        ("score,same\n0.9,0\n0.1,0\n", "all 2 pairs are of different people"),
        ("score,same,person_a\n1,1,x\n", "both are needed"),
        ("score,same,person_a,person_b\n1,1,x,y\n0,0,x,y\n", "contradict.*'x' and person_b 'y'"),
        (GOOD.encode("utf-16"), "not a table of text"),
        (b"score,same\n\xe9,1\n", "line 2: byte 1 is not UTF-8"),
        (b"PK\x03\x04\x00\x00", "not a table of text"),
    ],
)
def test_bad_tables_say_where(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        run(write(tmp_path / "s.csv", text))


def test_bad_calls(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", GOOD)
    with pytest.raises(MissingDataError, match="does not exist"):
        run(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="is a folder"):
        run(tmp_path)
    with pytest.raises(InputError, match="between 0 and 1; got 2"):
        run(path, "--far", 2)
    with pytest.raises(InputError, match="exclude each other"):
        run(path, "--all", "--score", "score")
    with pytest.raises(InputError, match="cannot be a score as well"):
        run(path, "--score", "same")
    with pytest.raises(DataError, match="no column of numbers"):
        run(write(tmp_path / "t.csv", "a,same\nx,1\ny,0\n"), "--all")


@pytest.mark.parametrize("scores", [("1", "1", "1", "1"), ("inf", "-inf", "2", "1")])
def test_degenerate_scores_still_give_a_report(tmp_path: Path, scores: tuple[str, ...]) -> None:
    rows = [f"{score},{k % 2}" for k, score in enumerate(scores * 5)]
    path = write(tmp_path / "s.csv", "score,same\n" + "\n".join(rows))
    run(path, "--out", tmp_path / "r")
    assert (tmp_path / "r" / "report.html").exists()
