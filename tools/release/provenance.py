"""The sources of a release: an in-toto statement with a SLSA provenance predicate.

It names the commit and the lock files that give these bytes: to check it, build them again and
compare (`verify --same-sources`). By itself it does not prove who made it; `signing` does, for
users with the maker's public key.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parent.parent.parent
LOCKS = (
    "requirements/runtime.txt",
    "requirements/dev.txt",
    "deploy/image/debian-amd64.lock",
    "deploy/image/debian-arm64.lock",
)
BUILD_TYPE = "https://headroom.dev/release/v1"
BUILDER = "https://headroom.dev/release/make"


def statement(made: Mapping[str, bytes], parameters: Json) -> Json:
    """Return the statement about some files, by their names."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": digest(made[name])} for name in sorted(made)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": parameters,
                "internalParameters": {},
                "resolvedDependencies": [
                    {"uri": "git+.", **source()},
                    *(
                        {"uri": f"file:{path}", "digest": digest((ROOT / path).read_bytes())}
                        for path in LOCKS
                    ),
                ],
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }


def digest(content: bytes) -> dict[str, str]:
    return {"sha256": hashlib.sha256(content).hexdigest()}


def source() -> Json:
    """The commit that is built, and whether the working tree differs from it."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return {"annotations": {"commit": "unknown: built outside of a clone"}}
    changed = bool(_git("status", "--porcelain", "--untracked-files=no"))
    return {"digest": {"gitCommit": commit}, "annotations": {"changedSince": changed}}


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
