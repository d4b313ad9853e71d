"""``python -m benchmarks forged [part ...] [--n N] [--seed S]``: see ``run.py``."""

from benchmarks.forged.run import main

main()
