"""``python -m benchmarks forged [part ...] [--n N] [--seed S]``: see :mod:`benchmarks.forged.run`."""

from benchmarks.forged.run import main

main()
