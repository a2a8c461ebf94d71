"""mdvec: folders of Markdown and household data as searchable vectors in one SQLite file."""

__version__ = "0.1.0"
