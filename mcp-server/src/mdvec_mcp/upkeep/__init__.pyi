from .tools import Values as Values
from .tools import add_upkeep_tools as add_upkeep_tools
from .tools import imports_now as imports_now
