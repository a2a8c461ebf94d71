from .server import ChartServer as ChartServer
