"""Forged files, pictures, names and arrays, and kills, in numbers that tests cannot afford."""
