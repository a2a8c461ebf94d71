from . import answers as answers
from . import tools as tools
from .model_pool import ModelPool as ModelPool
from .tools import link_to as link_to
