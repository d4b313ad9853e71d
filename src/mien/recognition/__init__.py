"""From photographs and videos to people: the verbs as functions, and the verifiers they use."""

from mien.recognition._verifier import FaceVerifier, load_source, load_verifier

__all__ = ["FaceVerifier", "load_source", "load_verifier"]
