"""Embedding models: one file per backend, one Embedder over all of them."""
