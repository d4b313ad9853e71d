"""From photographs and videos to people: the verbs as functions, and the verifiers they use."""

from mien.recognition._verifier import FaceVerifier, load_source, load_verifier
from mien.recognition._verify import Verification, verify

__all__ = ["FaceVerifier", "Verification", "load_source", "load_verifier", "verify"]
