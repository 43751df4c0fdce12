"""One file a protocol: what people are asked. `PROTOCOLS.get(name)` finds one."""

from annotators.protocols.base import PROTOCOLS, Material, Protocol, Step

__all__ = ["PROTOCOLS", "Material", "Protocol", "Step"]
