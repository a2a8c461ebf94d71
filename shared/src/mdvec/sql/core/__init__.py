"""The pure part of analytics: the SQL judge, profiles, histograms, the output guard."""
