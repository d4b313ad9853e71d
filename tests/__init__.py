"""The tests, as a package of their own so that they can share ``tests.near`` and the like."""
