"""What every learner stands on: validation, linear algebra, statistics, iteration, kernels."""
