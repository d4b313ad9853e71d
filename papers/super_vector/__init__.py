"""Multi-view super vectors against Fisher vectors on the same descriptors."""
