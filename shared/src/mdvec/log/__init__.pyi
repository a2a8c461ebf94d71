from .activity import PRIVATE as PRIVATE
from .activity import milliseconds as milliseconds
from .activity import record as record
from .opening import LogOptions as LogOptions
from .opening import last_lines as last_lines
from .opening import open_log as open_log
from .opening import secrets_in as secrets_in
