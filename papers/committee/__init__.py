"""Random-sampling LDA against Eigenfaces, Fisherfaces and bagging, on ORL and Yale."""
