"""Where the command `assay` begins: before what takes time to import, so that Ctrl-C has an answer from then on."""

from __future__ import annotations

import json
import sys


def run() -> None:
    """Carry out the command of this process, and exit."""
    try:
        from app.cli import main  # noqa: PLC0415 - half a second, in which people press Ctrl-C as well

        main()
    except KeyboardInterrupt:
        from annotators.errors import Interrupted  # noqa: PLC0415 - likewise

        error = Interrupted()
        if "--json" in sys.argv:
            print(json.dumps({"error": str(error), "kind": "Interrupted"}))
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
