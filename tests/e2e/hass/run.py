"""Runs Home Assistant under its own Python: `run.py -c FOLDER --skip-pip`, with the MQTT integration alone.

What every installation has besides (its page, recorder, cloud) takes packages that this test does not want.
"""

import sys
from importlib import import_module

bootstrap = import_module("homeassistant.bootstrap")
for parts in ("CRITICAL_INTEGRATIONS", "DEFAULT_INTEGRATIONS", "FRONTEND_INTEGRATIONS"):
    setattr(bootstrap, parts, set())
sys.exit(import_module("homeassistant.__main__").main())
