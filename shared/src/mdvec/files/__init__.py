"""Source folders: finding files and reading their text."""
