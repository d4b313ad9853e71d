from ._cluster import METHODS, FolderClusters, cluster, write_clusters
from ._committee import identify, train_committee
from ._completion import complete, completer_parameters, load_aligned_lfw, train_completer
from ._encode import encode, train_encoder, write_features
from ._verification import adapt, read_vectors, train_verifier, verify

__all__ = [
    "METHODS",
    "FolderClusters",
    "adapt",
    "cluster",
    "complete",
    "completer_parameters",
    "encode",
    "identify",
    "load_aligned_lfw",
    "read_vectors",
    "train_committee",
    "train_completer",
    "train_encoder",
    "train_verifier",
    "verify",
    "write_clusters",
    "write_features",
]
