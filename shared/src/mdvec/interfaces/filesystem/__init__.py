"""The source folders: finding and reading files."""
