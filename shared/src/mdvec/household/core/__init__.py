"""The domain logic of a household's money, without I/O."""
