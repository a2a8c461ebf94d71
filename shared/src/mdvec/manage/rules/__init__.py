"""The rules for a model that analyses data, put where a model or a notebook takes them from."""
