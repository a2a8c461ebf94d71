"""Embedding models: one ``Embedder`` over all backends, and the catalogue of models."""
