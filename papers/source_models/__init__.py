"""The shipped verifiers: how they are made, LFW by its folds, and real shifts of domain."""
