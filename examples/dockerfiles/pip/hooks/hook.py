#!/usr/bin/env python3
import sys

if '--config' in sys.argv:
    print('{"configVersion": "v1", "onStartup": 1}')
    sys.exit()

from tabulate import tabulate

print(tabulate([['python', 'hello']], tablefmt='plain'))
