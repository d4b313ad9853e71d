"""Statements of what compares people: Joint Bayesian, verifiers, face models, exports."""

from __future__ import annotations

import numpy as np

from mien.files._vocabulary import (
    Bounds,
    Mismatch,
    Sizes,
    Statement,
    Term,
    Values,
    anything_plain,
    either,
    fields,
    flag,
    instance,
    integers,
    items,
    labels,
    mapping,
    natural,
    number,
    optional,
    pair,
    real,
    size,
    text,
    unbounded,
)

__all__ = ["PEOPLE"]


# Entries of a block; arrays of 128 KiB and more are mapped anew each time by many an allocator.
_BLOCK = 2**13
_LIMITS: Bounds = {"low": -1e15, "high": 1e15}


def _is_symmetric(matrix: np.ndarray, most: float) -> bool:
    """Whether no entry differs from its twin by more; in blocks for which no memory is fetched."""
    step = max(1, _BLOCK // max(len(matrix), 1))
    for start in range(0, len(matrix), step):
        end = start + step
        apart = (matrix[start:end, start:] - matrix[start:, start:end].T).ravel()
        # Most are far within the limit, which a sum of squares shows; as in the vocabulary.
        near = float(np.dot(apart, apart)) <= 0.9 * most * most
        if not near and not np.abs(apart).max(initial=0.0) <= most:
            return False
    return True


def _check_model(params: Values, fitted: Values, sizes: Sizes) -> None:
    if not fitted["rank_"] <= sizes["p"]:
        raise Mismatch(f"rank_ is {fitted['rank_']} of {sizes['p']} directions")
    for name in ("variation_covariance_", "identity_covariance_"):
        matrix = fitted[name]
        diagonal = np.diagonal(matrix)
        # No entry of a covariance is larger than the largest on its diagonal.
        size_ = float(diagonal.max(initial=0.0))
        if not diagonal.min(initial=0.0) >= -1e-6 * size_:
            raise Mismatch(f"{name} must have a non-negative diagonal")
        if not _is_symmetric(matrix, 2e-3 * size_):
            raise Mismatch(f"{name} must be symmetric")


def _check_verifier(params: Values, fitted: Values, sizes: Sizes) -> None:
    held = fitted["fitted"]
    if held is None:
        return
    n = len(held["candidates_"])
    if held["coefficients_"].shape[2] != n + 1:
        raise Mismatch(f"coefficients_ does not fit {n} candidates")
    table = held["thresholds_"]
    for name in ("probe_sizes", "sizes"):
        if not np.array_equal(getattr(table, name), held[f"{name}_"]):
            raise Mismatch(f"the thresholds are for other {name}")


def _check_rows(params: Values, fitted: Values, sizes: Sizes) -> None:
    if fitted["seal"] is None and fitted["vectors"].dtype.kind != "f":
        raise Mismatch("vectors must be numbers where nothing is sealed")
    if fitted["seal"] is not None and fitted["vectors"].dtype != np.uint8:
        raise Mismatch("vectors must be bytes where they are sealed")
    for name in ("names", "sources"):
        lengths = fitted[name]["lengths"]
        if int(np.maximum(lengths, 0).sum()) != fitted[name]["bytes"].size:
            raise Mismatch(f"{name} do not fit their lengths")


_BAYESIAN: dict[str, Term] = {
    "n_features_in_": size("d"),
    "mean_": real("d", **_LIMITS),
    "n_people_": number(0, 2**53),
    "n_samples_": number(0, 2**53),
    "features_": optional(text()),
    "variation_covariance_": real("d", "d", **_LIMITS),
    "identity_covariance_": real("d", "d", **_LIMITS),
    "projection_": real("d", "p", **_LIMITS),
    "variance_ratios_": real("p", low=-1e-6, high=1e15),
    "rank_": natural(),
    "truncation_error_": pair(number(), number()),
    "objective_": real("i"),
    "n_iter_": natural(),
    "prior_people_": optional(number(0, 1e30)),
    "statistics_": instance("GroupStatistics"),
    "feature_names_in_": labels("d"),
}
_BAYESIAN_SOMETIMES = (
    "feature_names_in_",
    "n_iter_",
    "objective_",
    "prior_people_",
    "statistics_",
    "truncation_error_",
)

PEOPLE: dict[str, Statement] = {
    "mien.GroupStatistics": Statement(
        {
            "batch_size": integers(low=1, high=2**40),
            "features": labels(),
            "shift": real("d"),
            "second": real("d", "d"),
            "sums": real("g", "d"),
            "counts": integers("g", low=1, high=2**53),
            "labels": labels("g"),
            "alone_count": integers(high=2**53),
            "alone_total": real("d"),
            "alone_second": real("d", "d"),
        },
        sometimes=(
            "features",
            "shift",
            "second",
            "sums",
            "counts",
            "labels",
            "alone_count",
            "alone_total",
            "alone_second",
        ),
        unfitted=False,
    ),
    "mien.JointBayesian": Statement(_BAYESIAN, sometimes=_BAYESIAN_SOMETIMES, check=_check_model),
    "mien.TransferJointBayesian": Statement(
        _BAYESIAN
        | {
            "source_people_": number(0, 1e30),
            "source_weight_": number(0, 1),
            "strength_": number(0, 1e30),
            "strength_path_": mapping(text(200), either(real("s"), real("s", "f"), integers("s"))),
            "mean_shrinkage_": number(0, 1),
            "steps_": optional(instance("Pipeline")),
            "rank_tol": number(0, 1),
            "prior_people": optional(number(0, 1e30)),
        },
        sometimes=(*_BAYESIAN_SOMETIMES, "steps_", "rank_tol", "source_people_", "prior_people"),
        params={"source": instance("JointBayesian", "TransferJointBayesian", "Pipeline")},
        check=_check_model,
    ),
    "mien.ThresholdTable": Statement(
        {
            "probe_sizes": integers("k", low=1, high=2**31, order="rising"),
            "sizes": integers("m", low=1, high=2**31, order="rising"),
            "rates": real("l", low=1e-300, high=1, order="rising"),
            "values": unbounded("k", "m", "l"),
            "tail_scale": real("k", "m", low=0, high=1e9),
            "n_impostor": integers("k", "m", high=2**53),
            "lowest_far": number(1e-300, 1),
        },
        unfitted=False,
    ),
    "mien.Verifier": Statement(
        {
            "settings": mapping(text(100), anything_plain(1000)),
            "model": instance("JointBayesian", "TransferJointBayesian", "Pipeline"),
            "fitted": optional(
                fields(
                    candidates_=items(text(40), kind=tuple, fewest=1),
                    probe_sizes_=integers("k", low=1, high=2**31, order="rising"),
                    sizes_=integers("m", low=1, high=2**31, order="rising"),
                    coefficients_=real("k", "m", "c", **_LIMITS),
                    thresholds_=instance("ThresholdTable"),
                    cllr_=real("k", "m", low=0),
                    n_genuine_=integers("k", "m", high=2**53),
                    n_impostor_=integers("k", "m", high=2**53),
                )
            ),
        },
        check=_check_verifier,
        unfitted=False,
    ),
    "mien.FaceModel": Statement(
        {
            "engine": optional(text(200)),
            "verifier": instance("Verifier"),
            "card": anything_plain(),
        },
        unfitted=False,
    ),
    "mien.ExportedRows": Statement(
        {
            "features": text(),
            "uuid": optional(text(64)),
            "model": either(instance("FaceModel", "Verifier"), integers("size", high=255)),
            "seal": optional(text()),
            "seal_names": flag(),
            "owners": integers("n"),
            "numbers": integers("p"),
            "names": fields(
                bytes=integers("b", high=255), lengths=integers("p", low=-1, high=2**31)
            ),
            "digests": integers("n", 32, high=255),
            "faces": integers("n", high=2**31),
            "vectors": either(real("n", "d", low=-1.01, high=1.01), integers("n", "d", high=255)),
            "sources": fields(
                bytes=integers("s", high=255), lengths=integers("n", low=-1, high=2**31)
            ),
            "qualities": unbounded("n"),
            "added": real("n", low=-1e12, high=1e12),
            "check": optional(integers(32, high=255)),
        },
        check=_check_rows,
        unfitted=False,
    ),
}
