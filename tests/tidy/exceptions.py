"""Files that may break a rule, and why. Keep it short: an exception is a debt."""

ALLOWED: dict[str, dict[str, str]] = {}
