"""What the product knows of data files: their tables' names, their columns, their types."""
