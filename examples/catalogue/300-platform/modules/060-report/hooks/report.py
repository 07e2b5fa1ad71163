#!/usr/bin/env python3
import json
import os
import sys

if '--config' in sys.argv:
    print(json.dumps({'configVersion': 'v1', 'onStartup': 1}))
    sys.exit()

print('in a virtual environment' if sys.prefix != sys.base_prefix else 'with the python of the system')
