"""`mdvec doctor`: checks of an installation, each with the command that fixes what it finds."""
