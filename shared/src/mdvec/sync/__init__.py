"""An index that keeps itself fresh: looks at sources, and imports in a process of their own."""
