"""The outside world of the command line: the terminal."""
