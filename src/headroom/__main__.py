"""`python -m headroom`: the same as the `headroom` command, if scripts are not on the PATH."""

from __future__ import annotations

from headroom.cli.main import main

main()
