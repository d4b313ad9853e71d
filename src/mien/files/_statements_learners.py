"""Statements of features, kernel maps, dictionaries, subspaces, committees and mixtures."""

from __future__ import annotations

import numpy as np

from mien.files._vocabulary import (
    Mismatch,
    Sizes,
    Statement,
    Term,
    Values,
    anything_plain,
    boolean,
    either,
    flag,
    instance,
    integers,
    items,
    labels,
    natural,
    number,
    optional,
    pair,
    permutations,
    positive,
    real,
    size,
    text,
)

__all__ = ["LEARNERS"]


_ANY_SIDE = number(1, 2**20, whole=True)
# What takes part in a kernel's exponent must neither vanish nor overflow in single precision.
_WIDTH = number(1e-15, 1e15)
_RADIUS = number(0.5, 100)


def _check_fourier(params: Values, fitted: Values, sizes: Sizes) -> None:
    doubled = 2 if params["functions"] == "sincos" else 1
    if fitted["_n_features_out"] != doubled * fitted["n_frequencies_"]:
        raise Mismatch(
            f"_n_features_out is {fitted['_n_features_out']}, and must be "
            f"{doubled * fitted['n_frequencies_']}"
        )


def _check_fastfood(params: Values, fitted: Values, sizes: Sizes) -> None:
    _check_fourier(params, fitted, sizes)
    blocks, width = sizes["b"], sizes["w"]
    if width != 1 << (sizes["d"] - 1).bit_length():
        raise Mismatch(f"blocks of {width} do not fit {sizes['d']} features")
    if not (blocks - 1) * width < fitted["n_frequencies_"] <= blocks * width:
        raise Mismatch(f"{fitted['n_frequencies_']} frequencies do not fit {blocks} blocks")


def _check_kernel(params: Values, fitted: Values, sizes: Sizes) -> None:
    """Components stand for points, landmarks or Fastfood features, as the parameters say."""
    m = fitted["components_"].shape[1]
    approximation, kernel = params["approximation"], params["kernel"]
    have = {name for name in ("points_", "landmarks_", "whitener_", "map_") if name in fitted}
    wanted = {
        None: set() if kernel == "precomputed" else {"points_"},
        "nystroem": {"landmarks_", "whitener_"},
        "fastfood": {"map_"},
    }[approximation]
    if have != wanted:
        raise Mismatch(f"with approximation={approximation!r} it must have {sorted(wanted)}")
    if "points_" in have and len(fitted["points_"]) != m:
        raise Mismatch("components_ must have one column for each point")
    if "whitener_" in have and fitted["whitener_"].shape != (len(fitted["landmarks_"]), m):
        raise Mismatch("whitener_ does not fit landmarks_ and components_")
    if "map_" in have and fitted["map_"]._n_features_out != m:
        raise Mismatch("components_ does not fit the features of map_")
    if kernel == "precomputed" and sizes["d"] != m:
        raise Mismatch("components_ does not fit the kernel")
    _check_kernel_params(params)


def _check_kernel_params(params: Values) -> None:
    given = params.get("kernel_params")
    if given is not None and not set(given) <= {"gamma", "degree", "coef0"}:
        raise Mismatch("kernel_params may hold gamma, degree and coef0")
    for name, value in (given or {}).items():
        number(-1e6, 1e6).check(value, f"kernel_params[{name!r}]", {})


def _check_class_dependence(params: Values, fitted: Values, sizes: Sizes) -> None:
    if params["kernel"] == "precomputed":
        if "points_" in fitted or sizes["d"] != sizes["n"]:
            raise Mismatch("with a precomputed kernel it has no points, and n features")
    elif "points_" not in fitted:
        raise Mismatch("points_ is missing")
    _check_kernel_params(params)


def _check_atoms(params: Values, fitted: Values, sizes: Sizes) -> None:
    atoms = fitted["components_"]
    if not np.all(np.einsum("ij,ij->i", atoms, atoms) <= 1.02):
        raise Mismatch("components_ must have rows of length one")
    if not 1 <= fitted["n_nonzero_coefs_"] <= min(sizes["k"], sizes["d"]):
        raise Mismatch(f"n_nonzero_coefs_ is {fitted['n_nonzero_coefs_']}")


def _check_weighted_atoms(params: Values, fitted: Values, sizes: Sizes) -> None:
    if not 1 <= fitted["n_nonzero_coefs_"] <= min(sizes["k"], sizes["d"]):
        raise Mismatch(f"n_nonzero_coefs_ is {fitted['n_nonzero_coefs_']}")


def _check_committee(params: Values, fitted: Values, sizes: Sizes) -> None:
    rotated = sizes["d"] if fitted["components_"] is None else len(fitted["components_"])
    if (fitted["mean_"] is None) != (fitted["components_"] is None):
        raise Mismatch("mean_ and components_ belong together")
    if fitted["columns_"].max(initial=0) >= rotated:
        raise Mismatch(f"columns_ must be below {rotated}")
    for member in fitted["members_"]:
        width = getattr(member, "n_features_in_", None)
        if width != sizes["w"]:
            raise Mismatch(f"a member has {width} features, and gets {sizes['w']}")
        classes = getattr(member, "classes_", None)
        if classes is None or not np.isin(classes, fitted["classes_"]).all():
            raise Mismatch("a member has classes that the committee does not have")


def _check_lbp(params: Values, fitted: Values, sizes: Sizes) -> None:
    cells = sum(grid**2 for grid in params["grids"])
    if fitted and fitted["n_features_out_"] % max(1, len(params["radii"]) * cells):
        raise Mismatch("n_features_out_ does not fit radii and grids")


def _check_neighbours(params: Values, fitted: Values, sizes: Sizes) -> None:
    if not np.isin(fitted["labels_"], fitted["classes_"]).all():
        raise Mismatch("labels_ has labels that are not in classes_")
    if params["n_neighbors"] > sizes["n"]:
        raise Mismatch(f"n_neighbors is {params['n_neighbors']} of {sizes['n']} points")


def _check_pcca(params: Values, fitted: Values, sizes: Sizes) -> None:
    first, second = fitted["n_features_views_"]
    total = fitted["location_"].size
    if first + second != total or first != fitted["n_features_in_"]:
        raise Mismatch("n_features_views_ does not fit location_")
    noise = fitted["noise_"]
    if params["noise"] == "full":
        if not isinstance(noise, tuple):
            raise Mismatch("noise_ must be a matrix for each view")
        for part, width in zip(noise, (first, second), strict=True):
            if part.shape != (sizes["k"], width, width):
                raise Mismatch(f"noise_ has the shape {part.shape} for a view of {width}")
        least = min(_check_definite(matrix) for part in noise for matrix in part)
    elif isinstance(noise, tuple) or not np.all(noise > 0):
        raise Mismatch("noise_ must be above zero")
    else:
        least = float(noise.min())
    shared = float(
        np.square(fitted["loadings_"].astype(np.float64)).sum(axis=(1, 2)).max(initial=0)
    )
    if not shared <= 1e14 * least:
        raise Mismatch("loadings_ is too large for noise_")
    if params["n_components"] != sizes["k"] or params["n_latent"] != sizes["q"]:
        raise Mismatch("n_components and n_latent do not fit loadings_")
    if not abs(float(fitted["weights_"].sum()) - 1) < 1e-3:
        raise Mismatch("weights_ must sum to one")


def _check_definite(matrix: np.ndarray) -> float:
    """About the smallest variance of a covariance of noise."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise Mismatch("noise_ must be positive definite") from error
    return float(np.diagonal(factor).min()) ** 2


def _check_machine(params: Values, fitted: Values, sizes: Sizes) -> None:
    machine = fitted["machine_"]
    if not np.array_equal(machine.classes_, fitted["classes_"]):
        raise Mismatch("machine_ has other classes")


def _check_descriptors(params: Values, fitted: Values, sizes: Sizes) -> None:
    for reduction in fitted["reductions_"]:
        if reduction is not None and not hasattr(reduction, "components_"):
            raise Mismatch("reductions_ must be fitted")


# What a committee may do to vectors before its members see them.
_PREPARATION = optional(
    instance(
        "Eigenfaces", "LightNormalizer", "MinMaxScaler", "Normalizer", "PCA", "Pipeline",
        "PixelFeatures", "StandardScaler",
    )
)  # fmt: skip
_ENCODER = instance("FisherVector", "MultiViewSuperVector")
_BAG_ENCODER = instance("BagEncoder", "FisherVector", "MultiViewSuperVector")
_NULL_SPACE: dict[str, Term] = {
    "rank_total_": natural(),
    "rank_within_": natural(),
    "method_": text(40),
    "regularization_": number(0, 1e15),
    "between_shrinkage_": number(0, 1),
}
_LINEAR_MAP: dict[str, Term] = {
    "n_features_in_": size("d"),
    "mean_": real("d"),
    "components_": real("k", "d"),
    "feature_names_in_": labels("d"),
}
_KERNEL_MAP: dict[str, Term] = {
    "n_features_in_": size("d"),
    "sigma_": optional(_WIDTH),
    "components_": real("k", "m", low=-1e30, high=1e30),
    "mean_": real("m", low=-1e30, high=1e30),
    "points_": real("n", "d"),
    "landmarks_": real("l", "d"),
    "whitener_": real("l", "m", low=-1e30, high=1e30),
    "map_": instance("Fastfood", n_features_in_="d"),
    "feature_names_in_": labels("d"),
}
_KERNEL_PARTS = ("points_", "landmarks_", "whitener_", "map_", "feature_names_in_")
_ATOMS: dict[str, Term] = {
    "n_features_in_": size("d"),
    "components_": real("k", "d", low=-1e6, high=1e6),
    "mean_": real("d", low=-1e15, high=1e15),
    "n_atoms_": size("k"),
    "n_nonzero_coefs_": number(1, 2**31, whole=True),
    "objective_": real("i", low=0),
    "n_iter_": natural(),
    "n_replaced_": natural(),
    "code_sums_": real("k", "k"),
    "data_sums_": either(real("k", "d"), real("d", "k")),
    "weights_": positive("d"),
    "visible_": boolean("d"),
    "feature_names_in_": labels("d"),
}
_ATOMS_SOMETIMES = ("code_sums_", "data_sums_", "objective_", "n_iter_", "n_replaced_",
                    "feature_names_in_")  # fmt: skip

LEARNERS: dict[str, Statement] = {
    # ------------------------------------------------------------------------ features
    "mien.GridLBP": Statement(
        {"image_shape_": pair(_ANY_SIDE, _ANY_SIDE), "n_features_out_": natural()},
        params={
            "radii": items(_RADIUS, kind=tuple, fewest=1),
            "grids": items(number(1, 256, whole=True), kind=tuple, fewest=1),
        },
        check=_check_lbp,
    ),
    "mien.LandmarkLBP": Statement(
        {"n_landmarks_": number(1, 10_000, whole=True), "n_features_out_": natural()},
        params={
            "scales": items(number(0.01, 100), kind=tuple, fewest=1),
            "grid": number(1, 256, whole=True),
            "cell": number(1, 1024, whole=True),
            "radius": _RADIUS,
        },
    ),
    "mien.PixelFeatures": Statement(
        {
            "image_shape_": either(
                pair(_ANY_SIDE, _ANY_SIDE), pair(_ANY_SIDE, _ANY_SIDE, number(3, 3, whole=True))
            ),
            "n_features_out_": natural(),
        },
        params={"window": optional(number(1, 1023, whole=True)), "floor": number(1e-12, 1e6)},
    ),
    "mien.LightNormalizer": Statement(
        {
            "n_features_in_": size("d"),
            "floor_": number(1e-30, 1e30),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
        params={
            "image_shape": optional(pair(_ANY_SIDE, _ANY_SIDE)),
            "window": number(3, 1023, whole=True),
            "smooth": number(0, 100),
        },
    ),
    "mien.PairedDescriptors": Statement(
        {"reductions_": pair(optional(instance("PCA")), optional(instance("PCA")))},
        params={
            "patch": number(2, 512, whole=True),
            "step": number(1, 512, whole=True),
            "side": optional(number(1, 4096, whole=True)),
        },
        check=_check_descriptors,
    ),
    # ------------------------------------------------------------------------ kernel maps
    "mien.Fastfood": Statement(
        {
            "n_features_in_": size("d"),
            "signs_": real("b", "w", low=-1, high=1),
            "order_": permutations("b", "w"),
            "gains_": real("b", "w", low=-1e6, high=1e6),
            "scales_": real("b", "w", low=-1e6, high=1e6),
            "n_frequencies_": number(1, 2**40, whole=True),
            "sigma_": _WIDTH,
            "_n_features_out": number(1, 2**41, whole=True),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
        check=_check_fastfood,
    ),
    "mien.RandomKitchenSinks": Statement(
        {
            "n_features_in_": size("d"),
            "frequencies_": real("m", "d", low=-1e15, high=1e15),
            "n_frequencies_": size("m"),
            "sigma_": _WIDTH,
            "_n_features_out": number(1, 2**41, whole=True),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
        check=_check_fourier,
    ),
    # ------------------------------------------------------------------------ dictionaries
    "mien.KSVD": Statement(
        {name: term for name, term in _ATOMS.items() if name not in ("weights_", "visible_")},
        sometimes=_ATOMS_SOMETIMES,
        check=_check_atoms,
    ),
    "mien.WeightedKSVD": Statement(_ATOMS, sometimes=_ATOMS_SOMETIMES, check=_check_weighted_atoms),
    # ------------------------------------------------------------------------ subspaces
    "mien.ClassDependenceFeatures": Statement(
        {
            "n_features_in_": size("d"),
            "classes_": labels("c", unique=True),
            "sigma_": optional(_WIDTH),
            "filters_": real("n", "c", low=-1e30, high=1e30),
            "points_": real("n", "d"),
            "feature_names_in_": labels("d"),
        },
        sometimes=("points_", "feature_names_in_"),
        check=_check_class_dependence,
    ),
    "mien.ConstrainedClustering": Statement(
        {
            "n_features_in_": size("d"),
            "labels_": integers("n", high="n"),
            "n_clusters_": number(1, 2**40, whole=True),
            "merge_distances_": real("m", low=0),
            "feature_names_in_": labels("d"),
        },
        sometimes=("merge_distances_", "feature_names_in_"),
    ),
    "mien.Eigenfaces": Statement(
        _LINEAR_MAP | {"scales_": real("k", low=0)}, sometimes=("feature_names_in_",)
    ),
    "mien.Fisherfaces": Statement(
        _LINEAR_MAP
        | {
            "classes_": labels("c", unique=True),
            "n_pca_": natural(),
            "explained_variance_ratio_": real("k", low=-1e-6, high=1 + 1e-6),
        },
        sometimes=("feature_names_in_",),
    ),
    "mien.KernelNullSpaceProjection": Statement(
        _KERNEL_MAP | _NULL_SPACE,
        sometimes=(*_KERNEL_PARTS, *_NULL_SPACE),
        check=_check_kernel,
    ),
    "mien.KernelRelevantComponents": Statement(
        _KERNEL_MAP | {"n_components_": size("k")}, sometimes=_KERNEL_PARTS, check=_check_kernel
    ),
    "mien.NearestNeighbourIdentifier": Statement(
        {
            "n_features_in_": size("d"),
            "gallery_": real("n", "d"),
            "labels_": labels("n"),
            "classes_": labels("c", unique=True),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
        check=_check_neighbours,
    ),
    "mien.NullSpaceLDA": Statement(
        _LINEAR_MAP | _NULL_SPACE | {"classes_": labels("c", unique=True)},
        sometimes=(*_NULL_SPACE, "feature_names_in_"),
    ),
    "mien.NullSpaceProjection": Statement(
        _LINEAR_MAP | _NULL_SPACE, sometimes=(*_NULL_SPACE, "feature_names_in_")
    ),
    "mien.RelevantComponents": Statement(
        _LINEAR_MAP | {"n_components_": size("k")}, sometimes=("feature_names_in_",)
    ),
    # ------------------------------------------------------------------------ committees
    "mien.Committee": Statement(
        {
            "n_features_in_": size("d"),
            "classes_": labels("c", unique=True),
            "mean_": optional(real("d")),
            "components_": optional(real("r", "d")),
            "columns_": integers("m", "w"),
            "unique_share_": real("m", low=0, high=1 + 1e-6),
            "preparation_": _PREPARATION,
            "choice_": anything_plain(1000),
            "members_": items(
                instance(
                    "LinearSVC",
                    "LogisticRegression",
                    "LinearDiscriminantAnalysis",
                    "OneVsRestClassifier",
                    "Pipeline",
                    "RandomSamplingLDA",
                    "NearestNeighbourIdentifier",
                ),
                "m",
            ),
            "feature_names_in_": labels("d"),
        },
        sometimes=("choice_", "feature_names_in_", "preparation_"),
        check=_check_committee,
    ),
    "mien.RandomSamplingLDA": Statement(
        {
            "n_features_in_": size("d"),
            "classes_": labels("c", unique=True),
            "counts_": integers("c"),
            "mean_": real("d"),
            "components_": real("r", "d"),
            "columns_": integers("m", "w", high="r"),
            "projections_": real("m", "w", "e", low=-1e30, high=1e30),
            "member_means_": real("m", "c", "e", low=-1e30, high=1e30),
            "n_fixed_": natural(),
            "n_random_": natural(),
            "n_discriminants_": natural(),
            "n_eigenfaces_": natural(),
            "shrinkage_": number(0, 1),
            "mean_shrinkage_": number(0, 1),
            "unique_share_": real("m", low=0, high=1 + 1e-6),
            "preparation_": _PREPARATION,
            "choice_": anything_plain(1000),
            "picture_size_": anything_plain(10),
            "feature_names_in_": labels("d"),
        },
        sometimes=("choice_", "feature_names_in_", "picture_size_", "preparation_"),
    ),
    # ------------------------------------------------------------------------ several views
    "mien.MixturePCCA": Statement(
        {
            "n_features_in_": size("d"),
            "location_": real("t"),
            "weights_": real("k", low=1e-300, high=1 + 1e-6),
            "means_": real("k", "t"),
            "loadings_": real("k", "t", "q"),
            "noise_": either(real("k", "t"), pair(real("k", "a", "a"), real("k", "b", "b"))),
            "n_features_views_": pair(_ANY_SIDE, _ANY_SIDE),
            "bound_": real("i"),
            "n_iter_": natural(),
            "converged_": flag(),
            "statistics_": pair(real("k", low=0), real("k", "t"), real("k", "t", "t")),
            "feature_names_in_": labels("d"),
        },
        sometimes=("bound_", "n_iter_", "converged_", "statistics_", "feature_names_in_"),
        check=_check_pcca,
    ),
    "mien.FisherVector": Statement(
        {
            "mixture_": instance("GaussianMixture", n_features_in_="d"),
            "n_iter_": natural(),
            "n_features_in_": size("d"),
        }
    ),
    "mien.MultiViewSuperVector": Statement(
        {"mixture_": instance("MixturePCCA", n_features_in_="d"), "n_features_in_": size("d")},
        params={"mixture": optional(instance("MixturePCCA"))},
    ),
    "mien.BagClassifier": Statement(
        {
            "encoder_": _BAG_ENCODER,
            "machine_": instance("LinearSVC", n_features_in_="w"),
            "classes_": labels("c", unique=True),
            "n_features_in_": number(1, 2**40, whole=True),
        },
        sometimes=("n_features_in_",),
        params={"encoder": optional(_BAG_ENCODER)},
        check=_check_machine,
    ),
    "mien.BagEncoder": Statement(
        {"descriptors_": instance("PairedDescriptors"), "encoder_": _ENCODER},
        params={"descriptors": instance("PairedDescriptors"), "encoder": optional(_ENCODER)},
    ),
    "mien.LogisticCalibration": Statement(
        {
            "n_features_in_": size("d"),
            "coef_": real("d", low=-1e15, high=1e15),
            "intercept_": number(-1e15, 1e15),
            "n_iter_": natural(),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
    ),
}
