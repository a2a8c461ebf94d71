"""Searches the documents of one or several tools."""
