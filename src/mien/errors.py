"""The errors and warnings of mien, in one tree.

::

    Exception
    └── MienError                      every error that mien raises on purpose
        ├── InputError (ValueError)    arrays, labels or parameters that cannot be used
        │   └── InputTypeError (TypeError)   something that is not an array of numbers
        ├── DataError (ValueError)     data on disk that cannot be used
        │   ├── MissingDataError (FileNotFoundError)   a set, folder or file does not exist
        │   └── ImageError             a picture that cannot be decoded, or is refused
        ├── ModelFileError (ValueError)    a model file that cannot be trusted or read
        │   ├── ModelFormatError       not ours, or of a format or class that we do not know
        │   └── ModelDamagedError      ours, but truncated, altered or inconsistent
        ├── GalleryError (ValueError)  a gallery that cannot be used as asked
        │   ├── GalleryFormatError     not a gallery, or of a newer format
        │   ├── GalleryDamagedError    a gallery, but truncated, altered or inconsistent
        │   ├── GalleryKeyError        no key, the wrong key, or a key for none
        │   ├── GalleryBusyError       another process holds it
        │   ├── ConsentError           the gallery demands a consent that is not there
        │   └── GalleryDiskError       the disk is full, or failed
        ├── NotEnoughDataError (ValueError)   the data are too few for the promise asked for
        └── MissingDependencyError (ImportError)   an extra is not installed

    UserWarning
    └── MienWarning
        ├── NumericsWarning            a floor, a rank or a fallback was applied
        └── PerformanceWarning         the result is right, and slower than it need be

Those that scikit-learn's users expect as ``ValueError`` are ``ValueError`` as well.
"""

from __future__ import annotations

__all__ = [
    "ConsentError",
    "DataError",
    "GalleryBusyError",
    "GalleryDamagedError",
    "GalleryDiskError",
    "GalleryError",
    "GalleryFormatError",
    "GalleryKeyError",
    "ImageError",
    "InputError",
    "InputTypeError",
    "MienError",
    "MienWarning",
    "MissingDataError",
    "MissingDependencyError",
    "ModelDamagedError",
    "ModelFileError",
    "ModelFormatError",
    "NotEnoughDataError",
    "NumericsWarning",
    "PerformanceWarning",
]


class MienError(Exception):
    """Every error that mien raises on purpose."""


class InputError(MienError, ValueError):
    """Arrays, labels or parameters that cannot be used."""


class InputTypeError(InputError, TypeError):
    """Something that is not an array of numbers."""


class DataError(MienError, ValueError):
    """Data on disk that cannot be used."""


class MissingDataError(DataError, FileNotFoundError):
    """A data set, folder or file does not exist."""


class ImageError(DataError):
    """A picture that cannot be decoded, or is refused."""


class ModelFileError(MienError, ValueError):
    """A model file that cannot be trusted or read."""


class ModelFormatError(ModelFileError):
    """A file that is not ours, or of a format or class that we do not know."""


class ModelDamagedError(ModelFileError):
    """A model file of ours that is truncated, altered or inconsistent."""


class GalleryError(MienError, ValueError):
    """A gallery that cannot be used as asked."""


class GalleryFormatError(GalleryError):
    """A file that is not a gallery, or one of a format that we do not know."""


class GalleryDamagedError(GalleryError):
    """A gallery that is truncated, altered or inconsistent."""


class GalleryKeyError(GalleryError):
    """A gallery that was opened without its key, with another, or with one that it has not."""


class GalleryBusyError(GalleryError):
    """A gallery that another process holds for longer than was waited."""


class ConsentError(GalleryError):
    """The gallery demands a person's consent, and there is none that holds."""


class GalleryDiskError(GalleryError):
    """A gallery on a disk that is full, or that failed."""


class NotEnoughDataError(MienError, ValueError):
    """The data are too few for the promise that was asked for."""


class MissingDependencyError(MienError, ImportError):
    """A part of mien needs a package that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'mien[{extra}]'"
        )


class MienWarning(UserWarning):
    """Every warning that mien gives on purpose."""


class NumericsWarning(MienWarning):
    """A floor, a rank or a fallback was applied to make the numbers safe."""


class PerformanceWarning(MienWarning):
    """The result is right, and slower than it need be."""
