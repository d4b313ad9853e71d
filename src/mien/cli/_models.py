"""Which verb a model file belongs to, read from the file without building the model."""

from __future__ import annotations

from pathlib import Path

from mien.errors import InputError

__all__ = ["check_model"]

_CROPS_VERIFIER = "a verifier for cut-out faces or vectors"
#: Class in the file -> what it is, and the verbs that use it.
_KINDS = {
    "FaceVerifier": ("a model for photographs", ("mien verify", "mien adapt")),
    "FaceModel": ("a model for photographs", ("mien verify", "mien adapt")),
    "Pipeline": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "CalibratedVerifier": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "OpenSetVerifier": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "Verifier": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "JointBayesian": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "TransferJointBayesian": (_CROPS_VERIFIER, ("mien crops verify", "mien crops adapt")),
    "RandomSamplingLDA": ("a committee for cut-out faces", ("mien crops identify",)),
    "BagEncoder": ("an encoder of pictures", ("mien crops encode",)),
    "FaceHallucinator": ("a completer of faces", ("mien complete", "mien crops complete")),
    "FaceCompleter": ("a completer of faces", ("mien complete", "mien crops complete")),
}
_PHOTOGRAPH_VERBS = {"mien verify", "mien adapt", "mien enrol", "mien cluster"}


def check_model(path: Path, verb: str) -> None:
    """Raise where a model file is not for this verb, and name the verb that it is for."""
    from mien.files import describe

    name = describe(path)["class"].rpartition(".")[2]
    what, verbs = _KINDS.get(name, (f"a {name}", ()))
    photographs = name in {"FaceVerifier", "FaceModel"}
    if verb in verbs or (photographs and verb in _PHOTOGRAPH_VERBS):
        return
    last = verb.rpartition(" ")[2]
    same = [other for other in verbs if other.endswith(last)]
    hint = f": use `{(same or list(verbs))[0]}`" if verbs else f", which `{verb}` cannot use"
    raise InputError(f"{str(path)!r} holds {what}{hint}")
