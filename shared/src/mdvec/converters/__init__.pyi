from .formats import FORMATS as FORMATS
from .formats import NEW_TOOL_ENDINGS as NEW_TOOL_ENDINGS
from .formats import OPTIONAL_ENDINGS as OPTIONAL_ENDINGS
from .formats import format_of as format_of
from .process import NO_COMMANDS as NO_COMMANDS
from .process import ConversionFailed as ConversionFailed
from .process import Converter as Converter
from .process import OwnCommands as OwnCommands
