"""``python -m oasis_operator.sidecar`` does what ``oasis-sidecar`` does."""

from __future__ import annotations

import sys

from oasis_operator.sidecar.main import main

sys.exit(main())
