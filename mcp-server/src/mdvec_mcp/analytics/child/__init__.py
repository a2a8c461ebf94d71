"""The query process itself: SQL from a model, run where nothing else can be reached."""
