"""`python -m tscg` is the command `tscg`."""

from __future__ import annotations

from tscg.cli import main

if __name__ == "__main__":
    main()
