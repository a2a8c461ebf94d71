"""`mdvec doctor`: checks of an installation, each with the command that mends what it finds."""
