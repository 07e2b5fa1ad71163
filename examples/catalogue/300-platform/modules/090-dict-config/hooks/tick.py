#!/usr/bin/env python3
import sys

if '--config' in sys.argv:
    # The text of a dict is YAML as well.
    print({'configVersion': 'v1', 'onStartup': 2, 'schedule': [{'name': 'tick', 'crontab': '*/10 * * * *'}]})
    sys.exit()

print('tick')
