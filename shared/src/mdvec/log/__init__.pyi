from .opening import PRIVATE as PRIVATE
from .opening import LogSettings as LogSettings
from .opening import last_lines as last_lines
from .opening import milliseconds as milliseconds
from .opening import open_log as open_log
from .opening import record as record
from .opening import secrets_in as secrets_in
