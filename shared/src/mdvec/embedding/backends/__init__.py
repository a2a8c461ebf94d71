"""Embedding backends, one file each."""
