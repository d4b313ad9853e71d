"""Whole faces from the eyes: six methods of the paper, and ours."""
