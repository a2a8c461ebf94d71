"""The settings file: its sections, and how it is found and read."""
