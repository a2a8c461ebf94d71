"""The child: the locked-down process in which a model's SQL runs."""
