"""How well covered parts of photographs are found and completed."""
