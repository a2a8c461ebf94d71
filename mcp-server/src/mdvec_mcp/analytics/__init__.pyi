from .query_tool import add_query_tool as add_query_tool
from .tools import add_analytics_prompt as add_analytics_prompt
from .tools import add_analytics_tools as add_analytics_tools
from .tools import add_dataset_tool as add_dataset_tool
from .tools import add_table_resources as add_table_resources
