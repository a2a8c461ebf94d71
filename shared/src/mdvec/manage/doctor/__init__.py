"""`mdvec doctor`: checks an installation, and names the command that fixes each finding."""
