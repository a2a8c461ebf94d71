"""Scoring of candidates and cutting of passages, without I/O."""
