"""The hallucination experiment on few faces, and its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mien.completion import PCACompleter, make_cover
from mien.datasets import FaceSet, crop_rendered, make_faces
from mien.errors import InputError, NotEnoughDataError
from mien.evaluation import evaluate_completion
from papers.hallucination import curve as curves
from papers.hallucination import data, stream
from papers.hallucination import report as hallucination
from papers.hallucination import run as runs
from tests.near import assert_near


@pytest.fixture(scope="module")
def small() -> data.Faces:
    faces = crop_rendered(make_faces(100, 4, size=64, random_state=0))
    rows = np.arange(400)
    settings: dict[str, Any] = {"n_atoms": 60, "max_iter": 2, "n_nonzero_coefs": 5}
    return data.Faces("rendered", faces.select(rows[:320]), faces.select(rows[320:]), settings)


def test_whole_report_of_a_small_set(
    small: data.Faces, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = tuple(row for row in runs.ROWS if row.name in ("K-SVD", "DW-KSVD", "ridge"))
    monkeypatch.setattr(hallucination, "ROWS", rows)
    monkeypatch.setattr(hallucination, "load_sets", lambda *args: [small])
    report = hallucination.reproduce_hallucination(sets=("rendered",), quick=True)
    tables = [part for part in report.to_dict()["parts"] if "rows" in part]
    fidelity = {row["method"]: row for row in tables[0]["rows"]}
    assert fidelity["DW-KSVD"]["paper"] == 17.6402
    assert _value(fidelity["ridge"]["PSNR"]) > _value(fidelity["K-SVD"]["PSNR"])
    assert [row["probe"] for row in tables[1]["rows"]] == ["original", "K-SVD", "DW-KSVD", "ridge"]
    figures = [part for part in report.to_dict()["parts"] if part.get("kind") == "figure"]
    names = [[series["name"] for series in figure["series"]] for figure in figures]
    assert "ridge, normal" in names[1]
    assert any(name.startswith("ridge, mean ") for name in names[2])
    assert report.write(tmp_path).exists()


def test_a_learning_curve_adds_people(small: data.Faces, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_WIDTH_FACES", 200)
    monkeypatch.setattr(curves, "_AUTO_FACES", 200)
    widths = []

    class Kernel(PCACompleter):
        def _learn(self, *given: Any) -> None:
            super()._learn(*given)
            self.sigma_ = 4.0

    def make_kernel(sigma: float | None, random_state: int) -> Kernel:
        widths.append(sigma)
        return Kernel(10)

    monkeypatch.setattr(curves, "FeatureRidgeCompleter", make_kernel)
    monkeypatch.setattr(curves, "AutoCompleter", lambda **given: PCACompleter(20))
    monkeypatch.setattr(hallucination, "load_sets", lambda *args: [small])
    report = hallucination.reproduce_hallucination(sets=("rendered",), quick=True, curve=True)
    parts = report.to_dict()["parts"]
    rows, measures = parts[0]["rows"], parts[1]["rows"]
    assert [row["faces"] for row in rows] == [80, 160, 320]
    assert [bool(row.get("auto")) for row in rows] == [True, True, False]
    assert all(0 < row["SSIM, ridge"] < 1 and 0 <= row["VR, ridge"] <= 1 for row in measures)
    assert "times the faces" in parts[2]["text"]
    alone = hallucination.reproduce_hallucination(
        sets=("rendered",), quick=True, curve=True, beside=()
    )
    assert set(alone.to_dict()["parts"][0]["rows"][0]) & {"ridge", "auto"} == {"ridge"}
    assert _value(rows[-1]["ridge"]) > _value(rows[0]["ridge"])
    # A width that was chosen by enough faces is kept.
    assert widths[:3] == [None, None, 4.0]
    gain = _value(rows[-1]["reweighted ridge − ridge"])
    assert gain == pytest.approx(
        _value(rows[-1]["reweighted ridge"]) - _value(rows[-1]["ridge"]), abs=1e-3
    )
    gains = [row["gain of the last doubling"] for row in rows]
    assert gains[0] is None
    assert gains[1] == pytest.approx(_value(rows[1]["ridge"]) - _value(rows[0]["ridge"]), abs=0.006)


def test_what_is_left_for_linear_estimates_is_a_bound() -> None:
    rng = np.random.default_rng(0)
    cover = np.zeros((4, 4), bool)
    cover[2:] = True
    mixing, noise = rng.normal(size=(8, 8)), 0.5

    def draw(n: int) -> np.ndarray:
        X = rng.normal(size=(n, 8))
        Y = X @ mixing + noise * rng.normal(size=(n, 8))
        return np.concatenate([X, Y], axis=1).reshape(n, 4, 4)

    # Mirrored pictures too, so that the law itself is symmetric.
    known, others = draw(400), draw(20_000)
    others = np.concatenate([others, others[:, :, ::-1]]).reshape(40_000, -1)
    X, Y = others[:, :8], others[:, 8:]
    best = float(np.mean((Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]) ** 2))
    for worse in (1.0, 1.5):
        left = curves.linear_headroom(known, worse * best, cover)
        assert left is not None
        assert 10 * np.log10(worse) < left < 10 * np.log10(worse) + 0.5
    assert curves.linear_headroom(known[:15], best, cover) is None


def _value(cell: Any) -> float:
    if isinstance(cell, dict):
        return float(cell["value"])
    return float(cell[0] if isinstance(cell, list | tuple) else cell)


def test_originals_match_themselves_and_noise_does_not(small: data.Faces) -> None:
    matcher = runs.train_matcher(small, 0)
    perfect = runs.verify(matcher, small.test.vectors(), small)
    assert perfect["own"]["vr"][0] == 1
    assert perfect["own"]["eer"][0] == 0
    # As the paper counts: every picture against every picture, itself included.
    n, same = len(small.test), small.test.people[:, None] == small.test.people
    others = perfect["other"]["vr"][0] * (same.sum() - n)
    assert perfect["all"]["vr"][0] == pytest.approx((n + others) / same.sum())
    noise = np.random.default_rng(0).random((len(small.test), 32, 32)).astype(np.float32)
    guess = runs.verify(matcher, noise, small)
    assert 0.3 < guess["own"]["eer"][0] < 0.7


def test_people_are_disjoint_and_the_paper_is_in_order(data_home: Path) -> None:
    (faces,) = data.load_sets(("orl",), data_home, True, 0)
    assert not set(faces.train.people) & set(faces.test.people)
    assert faces.train.size == (32, 32)
    published = [row.psnr for row in runs.ROWS if row.psnr is not None]
    assert published == sorted(published)
    assert len(published) == 6


def test_the_jump_to_weights_on_real_faces(data_home: Path) -> None:
    (faces,) = data.load_sets(("orl",), data_home, True, 0)
    score = {
        row.name: float(runs.run_row(row, faces, 0)["psnr"].mean())
        for row in runs.ROWS
        if row.name in ("PCA", "K-SVD", "DW-KSVD", "ridge")
    }
    assert score["PCA"] < score["K-SVD"] < score["DW-KSVD"] < score["ridge"]


def test_errors(small: data.Faces) -> None:
    with pytest.raises(InputError, match="sets are some of"):
        hallucination.reproduce_hallucination(sets=("frgc",))
    alone = FaceSet(
        small.train.images, np.arange(len(small.train)), {}, source="", licence="", skipped=[]
    )
    with pytest.raises(NotEnoughDataError, match="three pictures"):
        runs.train_matcher(data.Faces("x", alone, small.test, {}), 0)


def test_faces_that_pass_once_give_the_ridge_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream, "_FIRST", 64)
    monkeypatch.setattr(stream, "_BATCH", 64)
    rendered = crop_rendered(make_faces(10, 4, size=64, random_state=3))
    faces = data.Faces("rendered", rendered, rendered, {})
    rows = stream.stream_curve(faces, 192, 0)
    assert [row["faces"] for row in rows] == [64, 128, 192]
    # The same by hand: all faces and their mirror images in one matrix.
    cover = make_cover("below-eyes", (data.SIZE, data.SIZE)).ravel()
    known = np.concatenate(list(stream._faces(stream._LEARNED, 192, 0))).astype(np.float64)
    mirrored = known.reshape(-1, data.SIZE, data.SIZE)[:, :, ::-1].reshape(len(known), -1)
    both = np.concatenate([known, mirrored])
    choosing = np.concatenate(list(stream._faces(stream._CHOOSING, 2_000, 0))).astype(np.float64)
    covariance = np.cov(both.T, bias=True)
    found = []
    for alpha in stream._penalties(covariance):
        model = Ridge(alpha=alpha * len(both)).fit(both[:, ~cover], both[:, cover])
        error = np.mean((model.predict(choosing[:, ~cover]) - choosing[:, cover]) ** 2)
        found.append((error, model))
    best = min(found, key=lambda pair: pair[0])[1]
    tested = rendered.vectors().astype(np.float64)
    tested[:, cover] = best.predict(tested[:, ~cover])
    value = evaluate_completion(
        rendered.images,
        np.clip(tested, 0, 1).reshape(-1, data.SIZE, data.SIZE).astype(np.float32),
        cover=cover.reshape(data.SIZE, data.SIZE),
        people=rendered.people,
    )["psnr_covered"]["value"]
    assert_near(rows[-1]["ridge"][0], value, digits=4)
