"""Analytics without I/O: the check of SQL, profiles, histograms, the limits of answers."""
