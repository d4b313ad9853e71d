"""Defaults beside the best alternative on sets that did not choose them."""
