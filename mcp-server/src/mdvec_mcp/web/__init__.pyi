from .gate import listen as listen
from .gate import parse_address as parse_address
from .gate import rules_for as rules_for
from .page.access import Access as Access
from .page.app import page_views as page_views
from .page_mount import PageMount as PageMount
from .serve import HttpLimits as HttpLimits
from .serve import serve_http as serve_http
