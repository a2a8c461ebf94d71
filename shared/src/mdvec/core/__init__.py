"""What mdvec knows: text, search and their rules, free of input and output."""
