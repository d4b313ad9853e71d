"""The network that sees what of a face is covered: how it is made, and its error rates."""
