#!/usr/bin/env python3
"""A hook needs an interpreter in its first line and the executable bit, nothing else."""

import json
import sys


def main(arguments):
    if arguments == ["--config"]:
        print(json.dumps({"configVersion": "v1", "onStartup": 10}))
    else:
        print("OnStartup Python powered hook")


main(sys.argv[1:])
