"""The child process, which is locked down and runs a model's SQL."""
