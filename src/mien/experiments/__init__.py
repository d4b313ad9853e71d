"""One file a paper: data, pipeline, protocol, published number."""

__all__: list[str] = []
