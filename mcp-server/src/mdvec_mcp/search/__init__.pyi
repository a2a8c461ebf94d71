from . import answers as answers
from . import tools as tools
from .links import link_to as link_to
from .model_pool import ModelPool as ModelPool
from .tools import FilterArguments as FilterArguments
