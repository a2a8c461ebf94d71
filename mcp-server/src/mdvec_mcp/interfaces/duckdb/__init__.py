"""The query process: SQL from a model, run in a child that can reach nothing else."""
