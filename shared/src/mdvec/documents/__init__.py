"""Folders of Markdown and text files as a kind of source."""
