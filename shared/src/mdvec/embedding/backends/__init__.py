"""Embedding backends: one module per model, and what these modules share."""
