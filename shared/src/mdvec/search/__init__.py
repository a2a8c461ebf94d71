"""Search over the documents of one or several tools."""
