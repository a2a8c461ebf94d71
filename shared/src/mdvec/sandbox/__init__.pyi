from .landlock import code_paths as code_paths
from .landlock import restrict_files as restrict_files
from .own_user import limit as limit
from .own_user import take_own_user as take_own_user
from .seccomp import restrict_calls as restrict_calls
