"""The face engines on photographs and videos with known truth."""
