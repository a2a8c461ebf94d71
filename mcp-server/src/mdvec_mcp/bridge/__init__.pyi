from .bridge import forward_stdio as forward_stdio
