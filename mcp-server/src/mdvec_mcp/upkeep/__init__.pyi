from .answers import Values as Values
from .answers import imports_now as imports_now
from .tools import add_upkeep_tools as add_upkeep_tools
