"""Embedding models: one Embedder over all backends, and the catalog of them."""
