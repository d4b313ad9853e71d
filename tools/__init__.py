"""Jobs around the package: tests on other machines' terms, the wheel, mutants."""
