from .server import ChartServer as ChartServer
from .server import Published as Published
