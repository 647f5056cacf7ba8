"""Lets the package be run as `python3 -m localcluster`."""

import sys

from localcluster import cli

sys.exit(cli.main())
