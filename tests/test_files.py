"""Model files: bit for bit there and back, and never more than an error from a bad one."""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import stat
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import mien
from mien.errors import (
    DataError,
    InputError,
    MienWarning,
    MissingDataError,
    ModelDamagedError,
    ModelFileError,
    ModelFormatError,
)
from mien.files import REGISTRY, _container, describe
from mien.files._decode import Decoder
from mien.files._encode import Encoder
from mien.files._statements import STATEMENTS
from tests.forge import forge, take_apart
from tests.near import assert_near

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 6)) + np.repeat(np.eye(4, 6) * 4, 10, axis=0)
Y = np.repeat(["ann", "bob", "cleo", "dan"], 10)

FITTED = [
    StandardScaler().fit(X),
    MinMaxScaler().fit(X.astype(np.float32)),
    Normalizer().fit(X),
    PCA(3, random_state=np.random.RandomState(3)).fit(X),
    KMeans(4, n_init=2, random_state=0).fit(X),
    GaussianMixture(2, random_state=0).fit(X),
    LinearDiscriminantAnalysis().fit(X, Y),
    LogisticRegression().fit(X, Y),
    LinearSVC().fit(X, Y),
    OneVsRestClassifier(LinearSVC()).fit(X, Y),
    make_pipeline(StandardScaler(), PCA(0.9), LinearDiscriminantAnalysis()).fit(X, Y),
]


def _assert_equal(a: Any, b: Any, where: str = "model") -> None:
    """Equal in value, type, dtype, layout and structure."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        assert a.shape == b.shape, where
        if a.flags.forc:  # a view with steps is written in order
            assert a.flags.c_contiguous == b.flags.c_contiguous, where
        if a.dtype.kind == "f":
            assert np.array_equal(a, b, equal_nan=True), where
        else:
            assert np.array_equal(a, b), where
    elif isinstance(a, np.random.RandomState):
        _assert_equal(a.get_state(), b.get_state(), where)
    elif sparse.issparse(a):
        for part in ("data", "indices", "indptr"):
            _assert_equal(getattr(a, part), getattr(b, part), where)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _assert_equal(x, y, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert set(a) == set(b), where
        for key in a:
            _assert_equal(a[key], b[key], f"{where}[{key}]")
    elif hasattr(a, "get_params"):
        threads = {"_n_threads": 1}  # of this run, not of the model
        _assert_equal(vars(a) | threads, vars(b) | threads, where)
    elif isinstance(a, float):
        assert a == b or (a != a and b != b), where
    else:
        assert a == b, where


@pytest.mark.parametrize("model", FITTED, ids=lambda m: type(m).__name__)
def test_round_trip_is_bit_for_bit(model: Any, tmp_path: Path) -> None:
    again = mien.load(mien.save(model, tmp_path / "model.mien"))
    _assert_equal(model, again)
    # The parts are the same bits; what is computed from them may stand elsewhere in memory.
    method = "predict" if hasattr(model, "predict") else "transform"
    first, second = (np.asarray(getattr(m, method)(X)) for m in (model, again))
    if first.dtype.kind == "f":
        assert_near(second, first, digits=8)
    else:
        assert np.array_equal(second, first)


VALUES = [
    None,
    True,
    -(2**70),
    0.1,
    float("nan"),
    float("-inf"),
    'ünï\u0000code \\"mien.sha256":"',
    (1, (2.5, "x"), []),
    {"a": 1, 2: [None], (1, 2): np.arange(3)},
    np.float32(0.1),
    np.bool_(True),
    np.int64(-1),
    np.array(3.0),
    np.zeros((0, 4)),
    np.asfortranarray(rng.normal(size=(3, 4))),
    np.array([np.nan, -0.0, np.inf]),
    np.array([["ann", "b"], ["", "cleo"]]),
    np.array(["x", 3, None, True], dtype=object),
    np.arange(5, dtype=np.uint16),
    np.array([True, False]),
    np.float64,
    np.dtype("float32"),
    sparse.random(6, 5, 0.4, format="csr", random_state=0),
    sparse.csc_array(np.eye(3)),
    np.random.RandomState(5),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_every_kind_of_value(value: Any) -> None:
    _assert_equal(value, _there_and_back(value))


def _there_and_back(value: Any) -> Any:
    """Through the tree and the arrays, as an attribute of a model goes."""
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.encode(value, "value"), allow_nan=False))
    return Decoder("here", encoder.arrays, 0).decode(tree, 0)


def test_a_generator_goes_on_where_it_was() -> None:
    for bits in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        generator = np.random.Generator(bits(9))
        generator.normal(size=7)
        again = _there_and_back(generator)
        assert np.array_equal(again.normal(size=9), generator.normal(size=9))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (FunctionTransformer(np.sqrt), "not registered"),
        (KNeighborsClassifier(algorithm="kd_tree").fit(X, Y), "not registered"),
        (make_pipeline(StandardScaler(), FunctionTransformer()), "not registered"),
        (SVC().fit(X, Y), "not registered"),
        (GaussianMixture(weights_init=len), "weights_init is a builtins.builtin_function"),
        ({"a": 1}, "only estimators"),
        (np.zeros(3), "only estimators"),
        (42, "only estimators"),
    ],
)
def test_what_is_not_data_is_refused_by_name(model: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        mien.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_odd_values_are_refused_by_name() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value, said in [
        (np.zeros(2, dtype=complex), "complex128"),
        (np.array([object()]), "cannot be saved"),
        ({1, 2}, "builtins.set"),
        (np.ma.masked_array([1.0]), "plain arrays"),
        (sparse.coo_array(np.eye(2)), "coo_array"),
        (loop, "contains itself"),
        (np.array(["x" * 20_000, *[""] * 1000]), "very different lengths"),
    ]:
        with pytest.raises(InputError, match=said):
            Encoder().encode(value, "value")


def test_describe_says_what_is_in_the_file(tmp_path: Path) -> None:
    path = mien.save(FITTED[0], tmp_path / "m")
    described = describe(path)
    assert described["class"] == "sklearn.StandardScaler"
    assert described["format"] == 2
    assert described["bytes"] == path.stat().st_size
    assert set(described["versions"]) == {"mien", "numpy", "scikit-learn"}


def test_the_file_is_for_its_owner_and_readable_by_safetensors(tmp_path: Path) -> None:
    from safetensors import safe_open

    path = mien.save(FITTED[0], tmp_path / "m")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with safe_open(path, framework="numpy") as file:
        assert any("mean_" in key for key in file.keys())  # noqa: SIM118 - not a dict


# ---------------------------------------------------------------------------- bad files


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "m"
    return mien.save(FITTED[-1], path).read_bytes()


def test_missing_foreign_and_odd_files(tmp_path: Path, good: bytes) -> None:
    with pytest.raises(MissingDataError, match="no model file"):
        mien.load(tmp_path / "nothing")
    with pytest.raises(ModelFormatError, match="not a file"):
        mien.load(tmp_path)
    for content in {
        "empty": b"",
        "short": b"abc",
        "text": b"this is a text and no model, whatever its name says",
        "pickle": pickle.dumps({"a": 1}),
        "zip": b"PK\x03\x04" + bytes(100),
        "zeros": bytes(4096),
        "json": b'{"format": 1}',
        "announces 2**63": (2**63).to_bytes(8, "little") + b"{}",
        "announces 60 MiB": (60 * 2**20).to_bytes(8, "little") + b"{}",
        "list": (2).to_bytes(8, "little") + b"[]",
        "deep": (40000).to_bytes(8, "little") + b"[" * 40000,
    }.values():
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(ModelFileError):
            mien.load(tmp_path / "f")
    (tmp_path / "f").write_bytes(good)
    with pytest.raises(ModelFormatError, match="at most 10 are read"):
        mien.load(tmp_path / "f", max_bytes=10)


def test_another_safetensors_file_is_not_ours(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "f")
    with pytest.raises(ModelFormatError, match="not a model file of mien"):
        mien.load(tmp_path / "f")


def test_no_pickle_is_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (trap,))

    (tmp_path / "f").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelFileError):
        mien.load(tmp_path / "f")
    assert not trap.exists()


@pytest.mark.parametrize("part", range(4))
def test_any_changed_byte_is_noticed(good: bytes, tmp_path: Path, part: int) -> None:
    """Thousands of bit flips, truncations, insertions and swaps: always an error, never a model."""
    draw = random.Random(part)
    path = tmp_path / "f"
    for _ in range(400):
        data = bytearray(good)
        kind = draw.randrange(5)
        if kind == 0:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del data[draw.randrange(len(data)) :]
        elif kind == 2:
            data[draw.randrange(len(data)) : 0] = draw.randbytes(draw.randrange(1, 9))
            if bytes(data) == good:
                continue
        elif kind == 3:
            start = draw.randrange(len(data))
            data[start : start + draw.randrange(1, 40)] = draw.randbytes(draw.randrange(1, 40))
        else:
            data[:8] = draw.randbytes(draw.randrange(1, 4)).ljust(8, b"\0")
        if bytes(data) == good:
            continue
        path.write_bytes(data)
        with pytest.raises(ModelFileError):
            mien.load(path)


def _forge(path: Path, arrays: dict[str, np.ndarray], document: Any) -> None:
    _container.write(path, arrays, json.dumps(document))


def _mutate(node: Any, draw: random.Random) -> Any:
    """Replace one node of a tree at random by something else."""
    odd = [
        None,
        1,
        -1,
        2**70,
        "x",
        [],
        {},
        {"$": "array"},
        {"$": "x"},
        1.5,
        [[]],
        True,
        "__class__",
    ]
    if draw.random() < 0.15 or not isinstance(node, (dict, list)) or not node:
        return draw.choice(odd)
    node = dict(node) if isinstance(node, dict) else list(node)
    key = draw.choice(list(node)) if isinstance(node, dict) else draw.randrange(len(node))
    if isinstance(node, dict) and draw.random() < 0.1:
        node[str(draw.choice(odd))] = node.pop(key)
    elif draw.random() < 0.1:
        del node[key]
    else:
        node[key] = _mutate(node[key], draw)
    return node


@pytest.mark.filterwarnings("ignore::mien.errors.MienWarning")
def test_forged_files_with_a_right_digest_never_do_more_than_fail(tmp_path: Path) -> None:
    """Whoever can write a digest can write any tree: still only data, or an error of ours."""
    path = mien.save(FITTED[-1], tmp_path / "f")
    arrays, document = take_apart(path)
    draw = random.Random(1)
    failed = 0
    for _ in range(800):  # `make fuzz` forges more
        _forge(path, arrays, _mutate(document, draw))
        try:
            mien.load(path)
        except ModelFileError:
            failed += 1
    assert failed > 480


def test_a_file_cannot_replace_methods_or_ask_for_unknown_classes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    scaler = {"$": "estimator", "class": "sklearn.StandardScaler", "state": {}}
    scaler["params"] = {"copy": True, "with_mean": True, "with_std": True}
    for change, error, said in [
        ({"state": {"transform": 3}}, ModelDamagedError, "no attribute 'transform'"),
        ({"state": {"__class__": 3}}, ModelDamagedError, "no attribute"),
        ({"state": {"a b": 3}}, ModelDamagedError, "no attribute"),
        ({"class": "os.system"}, ModelFormatError, "does not read"),
        ({"class": "sklearn.FunctionTransformer"}, ModelFormatError, "does not read"),
        ({"params": scaler["params"] | {"evil": 1}}, ModelDamagedError, "no parameter"),
        ({"$": "estimator.__init__"}, ModelFormatError, "not known"),
    ]:
        _forge(path, {}, {"format": 1, "object": scaler | change})
        with pytest.raises(error, match=said):
            mien.load(path)


def test_formats_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "f"
    tree = Encoder().encode(StandardScaler(), "model")
    for number, said in [(3, "reads up to 2"), (0, "whole numbers"), ("1", "whole numbers")]:
        _forge(path, {}, {"format": number, "object": tree})
        with pytest.raises(ModelFormatError, match=said):
            mien.load(path)
    _forge(path, {}, {"format": 1, "object": tree, "versions": {"scikit-learn": "0.1"}})
    with pytest.warns(MienWarning, match=r"scikit-learn 0\.1"):
        mien.load(path)
    del tree["params"]["copy"]
    _forge(path, {}, {"format": 2, "object": tree, "versions": {}})
    with pytest.warns(MienWarning) as warned:
        mien.load(path)
    assert "their defaults are used" in str(warned[0].message)


def test_arrays_that_belong_to_nothing_and_deep_trees(tmp_path: Path) -> None:
    path = tmp_path / "f"
    tree = Encoder().encode(StandardScaler(), "model")
    _forge(path, {"stray": np.zeros(3)}, {"format": 1, "object": tree})
    with pytest.raises(ModelDamagedError, match="belong to nothing"):
        mien.load(path)
    deep: Any = None
    for _ in range(100):
        deep = [deep]
    _forge(path, {}, {"format": 1, "object": tree | {"state": {"deep_": deep}}})
    with pytest.raises(ModelDamagedError, match="nested too deeply"):
        mien.load(path)


def test_a_forged_size_takes_no_memory(tmp_path: Path, good: bytes) -> None:
    """A header that announces terabytes is refused by arithmetic, before anything is read."""
    header = json.dumps(
        {
            "__metadata__": {"mien.model": "{}", "mien.sha256": "0" * 64},
            "a": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]},
        },
        separators=(",", ":"),
    ).encode()
    (tmp_path / "f").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelDamagedError, match="truncated"):
        mien.load(tmp_path / "f")
    tree = {"$": "labels", "dtype": "<U400000000", "shape": [1], "items": ["a"]}
    with pytest.raises(ModelDamagedError, match=r"an array of labels would take 1,526 MiB"):
        Decoder("here", {}, 1000).decode(tree, 0)
    tree = {"$": "labels", "dtype": "<U1", "shape": [5000], "items": ["x" * 500_000, *[""] * 4999]}
    with pytest.raises(ModelDamagedError, match=r"an array of labels would take 9,537 MiB"):
        Decoder("here", {}, 530_000).decode(tree, 0)


# ---------------------------------------------------------------------------- writing


def test_a_failed_save_leaves_what_was_there(tmp_path: Path) -> None:
    path = mien.save(FITTED[0], tmp_path / "m")
    before = path.read_bytes()
    with pytest.raises(InputError):
        mien.save(FunctionTransformer(), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]


def test_a_folder_that_is_not_there_and_one_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        mien.save(FITTED[0], tmp_path / "no" / "m")
    (tmp_path / "d").mkdir()
    with pytest.raises(DataError, match="a folder with that name"):
        mien.save(FITTED[0], tmp_path / "d")


def test_a_killed_save_leaves_the_old_file(tmp_path: Path) -> None:
    """The process is killed between writing and renaming: the old model still loads."""
    path = mien.save(FITTED[0], tmp_path / "m")
    code = (
        "import os, sys, mien, mien._core.atomic as atomic\n"
        "from sklearn.preprocessing import MinMaxScaler\n"
        "atomic.os.replace = lambda *a: os.kill(os.getpid(), 9)\n"
        "mien.save(MinMaxScaler().fit([[0.0], [1.0]]), sys.argv[1])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ended.returncode == -9
    assert isinstance(mien.load(path), StandardScaler)


# ---------------------------------------------------------------------------- statements


def test_every_registered_class_has_a_statement() -> None:
    assert set(STATEMENTS) == set(REGISTRY)


def test_how_a_model_is_run_never_comes_from_a_file(tmp_path: Path) -> None:
    """Numbers of jobs, caches and paths: a file may not start threads or write anywhere."""
    trap = tmp_path / "trap"
    model = make_pipeline(StandardScaler(), PCA(2), memory=str(trap), verbose=True).fit(X)
    path = mien.save(model, tmp_path / "m")
    arrays, document = take_apart(path)
    assert "memory" not in document["object"]["params"]
    document["object"]["params"] |= {"memory": str(trap), "verbose": True}
    forge(path, (arrays, document))
    again = mien.load(path)
    assert again.memory is None
    assert again.verbose is False
    mien.save(LogisticRegression().fit(X, Y), path)
    arrays, document = take_apart(path)
    document["object"]["params"]["n_jobs"] = 20_000
    forge(path, (arrays, document))
    assert mien.load(path).n_jobs is None


def test_memory_is_computed_before_it_is_taken(tmp_path: Path) -> None:
    """One long label and many empty ones; a header of millions of tiny parts."""
    path = mien.save(LinearSVC().fit(X, Y), tmp_path / "m")
    arrays, document = take_apart(path)
    labels = document["object"]["state"]["classes_"]
    labels |= {"items": ["x" * 500_000, *[""] * 4999], "shape": [5000]}
    forge(path, (arrays, document))
    assert path.stat().st_size < 600_000
    tracemalloc.start()
    with pytest.raises(ModelDamagedError, match=r"labels would take 9,537 MiB"):
        mien.load(path)
    header = b'{"__metadata__":{"mien.model":"{}","mien.sha256":"' + b"0" * 64 + b'"},"a":['
    header += b"{}," * 4_000_000 + b"0]}"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFormatError, match=r"would take about .* MiB of memory"):
        mien.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((Path(__file__).parent / "golden").glob("*/*.mien"))
        if "SVC" not in path.name
    ],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
@pytest.mark.filterwarnings("ignore:.*holds estimators of scikit-learn")
def test_a_model_that_is_let_go_is_gone(path: Path) -> None:
    """What was read is in no cycle: it does not wait for the next collection, nor does its file."""
    mien.load(path)  # what is imported and kept on first use
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(mien.load(path))
        assert gone() is None
    finally:
        gc.enable()


def test_a_sum_in_pieces_shows_what_the_extremes_show() -> None:
    from mien.files._vocabulary import _is_within

    rng = np.random.default_rng(0)
    for n in (0, 1, 100, 8192, 8193, 70_000, 131_072):
        for dtype in (np.float32, np.float64):
            small = np.zeros(n, dtype)
            assert _is_within(small, 1.0)
            for wrong in (np.nan, np.inf, -np.inf, 1.01, -2.0, 1e30) if n else ():
                large = small.copy()
                large[rng.integers(n)] = wrong
                with np.errstate(over="ignore", invalid="ignore"):
                    assert not _is_within(large, 1.0)


@pytest.mark.parametrize("n", [1, 2, 63, 130])
def test_a_covariance_must_equal_its_transpose(n: int) -> None:
    from mien.files._statements_people import _is_symmetric

    matrix = np.cov(np.random.default_rng(n).normal(size=(n, 3 * n)), ddof=0).reshape(n, n)
    assert _is_symmetric(matrix, 1e-6)
    for i, j in ((0, n - 1), (n - 1, 0), (n // 2, 0)) if n > 1 else ():
        wrong = matrix.copy()
        wrong[i, j] += 0.01
        assert not _is_symmetric(wrong, 0.009)
        assert _is_symmetric(wrong, 0.011)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFormatError, match="not a file"):
        mien.load(tmp_path / "pipe")


def test_a_permutation_that_is_none_never_reaches_a_kernel(tmp_path: Path) -> None:
    """Compiled code would read, and with a forged number of features write, outside its arrays."""
    from mien.kernelmaps import Fastfood

    path = mien.save(Fastfood(2, sigma=1.0, random_state=0).fit(X), tmp_path / "m")
    arrays, document = take_apart(path)
    (order,) = [name for name in arrays if "order_" in name]
    for wrong in (2**30, -1, int(arrays[order][0, 1])):
        changed = arrays[order].copy()
        changed[0, 0] = wrong
        forge(path, (arrays | {order: changed}, document))
        with pytest.raises(ModelDamagedError, match="order_"):
            mien.load(path)
    document["object"]["state"]["_n_features_out"] = 1
    forge(path, (arrays, document))
    with pytest.raises(ModelDamagedError, match="_n_features_out is 1"):
        mien.load(path)


def test_a_random_generator_stands_within_its_state(tmp_path: Path) -> None:
    path = mien.save(PCA(2, random_state=np.random.RandomState(0)).fit(X), tmp_path / "m")
    arrays, document = take_apart(path)
    state = document["object"]["params"]["random_state"]["state"]["items"]
    for place in (625, -1, 2**40, 1.5, None):
        state[2] = place
        forge(path, (arrays, document))
        with pytest.raises(ModelDamagedError):
            mien.load(path)
