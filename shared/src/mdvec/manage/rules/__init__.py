"""Installs the rules for a model that analyses data, in instruction files and for notebooks."""
