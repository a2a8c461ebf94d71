"""What every import shares: its options, its report, the text index it fills."""
