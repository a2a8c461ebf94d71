"""Search in the documents of one or several tools."""
