from .gate import listen as listen
from .gate import rules_for as rules_for
from .page.access import Access as Access
from .page.app import PageGuard as PageGuard
from .page.app import page_app as page_app
from .page.app import page_views as page_views
from .serve import HttpLimits as HttpLimits
from .serve import serve_http as serve_http
