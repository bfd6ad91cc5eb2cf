"""Properties are never judged by the clock: a busy machine must not make them fail."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
