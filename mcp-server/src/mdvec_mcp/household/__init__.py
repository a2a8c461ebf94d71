"""The household's tools, resources and charts."""
