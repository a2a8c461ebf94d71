"""Charts of the household: what to draw, and the drawing of it into bytes."""
