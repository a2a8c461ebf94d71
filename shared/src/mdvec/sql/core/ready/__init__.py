"""Ready-made questions about any table: trends, comparisons, anomalies, correlations."""
