from .converted import Converted as Converted
from .formats import FORMATS as FORMATS
from .formats import NEW_TOOL_ENDINGS as NEW_TOOL_ENDINGS
from .formats import Format as Format
from .formats import format_of as format_of
from .process import ConversionFailed as ConversionFailed
from .process import Converter as Converter
from .process import converter as converter
