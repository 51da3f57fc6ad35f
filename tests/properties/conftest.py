"""How many examples hypothesis tries, and that a run can be repeated."""

import os

from hypothesis import HealthCheck, settings

QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", max_examples=60, derandomize=True, database=None, **QUIET)
settings.register_profile("explore", max_examples=500, **QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
