"""Recognition, clustering and retrieval from nameless groups (Kumar and Rowley, 2007)."""
