"""One file a protocol: what people are asked. `PROTOCOLS.get(name)` finds one."""

from annotators.criteria.material import Material
from annotators.protocols.base import ALL_FALLS, PROTOCOLS, DerivedCriterion, Protocol, Step

__all__ = ["ALL_FALLS", "PROTOCOLS", "DerivedCriterion", "Material", "Protocol", "Step"]
