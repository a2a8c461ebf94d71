from .publishing import Published as Published
from .publishing import publish as publish
from .server import ChartServer as ChartServer
