"""What one decision of an annotator may be: one file a kind, each with all that its values need.

A kind is one file here and its control in `app/widgets/criteria/`. Every module of this folder is imported with it, and
each class enters itself under its name (`KINDS`), so that whoever reads a protocol knows all kinds.
"""

from annotators.criteria.base import KINDS, AnyCriterion, Condition, Criterion, Misfit, Value
from annotators.criteria.labels import Label
from annotators.registry import import_modules

__all__ = ["KINDS", "AnyCriterion", "Condition", "Criterion", "Label", "Misfit", "Value"]

import_modules(__name__)
import_modules(f"{__name__}.derived")
