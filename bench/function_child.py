"""Call a function of a benchmark here, and print as JSON what it returns."""

import importlib
import json
import sys

if __name__ == "__main__":
    module, function, arguments = sys.argv[1:]
    print(json.dumps(getattr(importlib.import_module(module), function)(*json.loads(arguments))))
