"""Modules that are imported when something of them is first used: some take longer to import than all the rest."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """Stands for a module until something of it is asked for, and keeps what was."""

    def __getattr__(self, name: str) -> Any:
        """What the module has under this name."""
        found = getattr(import_module(self.__name__), name)
        if not name.startswith("__"):
            setattr(self, name, found)
        return found
