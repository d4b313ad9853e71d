"""What every learner uses: validation, linear algebra, statistics, iteration, kernels."""
