"""What the importers of all kinds share: the request, the report and the text index."""
