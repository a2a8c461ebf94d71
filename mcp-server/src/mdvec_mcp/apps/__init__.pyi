from .offering import add_apps as add_apps
