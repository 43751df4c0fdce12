"""The grade of an answer as people or a judge give it, and whether it counts as correct by its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.scorers.base import SCORERS, LabelledParameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.ratings import Rating, RatingLabels, has_scale, ratings_of

if TYPE_CHECKING:
    from annotators.criteria import Criterion

BANDS = ("correct", "partial", "incorrect")
"""The bands of CDocRAG-Bench, section 4.1."""

NO_GRADE = "it has no grade: take the labels of a study that grades answers, with --labels-of"


class AnswerGradeParameters(LabelledParameters):
    """Which grade, where studies ask for several."""

    criterion: str = Field("auto", description="the criterion whose grade it is, or the only one that there is")


def _is_band(criterion: Criterion) -> bool:
    return bool(criterion.label_list()) and {str(label.value) for label in criterion.label_list()} <= {*BANDS}


def _is_grade(criterion: Criterion) -> bool:
    if criterion.target != TargetKind.ITEM or not criterion.compared:
        return False
    return _is_band(criterion) or (criterion.ordered and has_scale(criterion))


class AnswerGrade(Scorer[AnswerGradeParameters]):
    """A grade on its own scale, how far up the scale that is, and its band as three flags."""

    name = "answer_grade"
    version = "1"
    title = "Grade of the answer"
    summary = "The grade that people or a judge give the answer, and whether it counts as correct."
    source = "CDocRAG-Bench, section 4.1 (0 to 10; 7 and more correct, 4 to 6 partial); any graded criterion."
    values = (
        ValueKind("answer_grade", "Grade", "number", high=None, measures="correctness"),
        ValueKind("answer_grade_share", "Grade, share of the scale", measures="correctness"),
        ValueKind("graded_correct", "Graded correct", "flag"),
        ValueKind("graded_partial", "Graded partly correct", "flag", merit=False),
        ValueKind("graded_incorrect", "Graded incorrect", "flag", merit=False),
    )
    needs = frozenset({Part.METADATA})
    labels = RatingLabels("one grade or number of the whole answer", _is_grade)
    parameters = AnswerGradeParameters

    def score(self, items: Sequence[ItemContent], parameters: AnswerGradeParameters) -> list[list[ScoreValue]]:
        """Five values for each item; the first one's details name criterion, source and scale."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: AnswerGradeParameters) -> list[ScoreValue]:
        given = ratings_of(item)
        bands = [rating for rating in given if rating.words and {*rating.words} <= {*BANDS}]
        grades = {rating.criterion: rating for rating in given if rating not in bands}
        found = _chosen(grades, parameters.criterion)
        if isinstance(found, str):
            return [ScoreValue(kind.name, None, found) for kind in self.values]
        details = {"criterion": found.criterion, "by": found.source, "low": found.low, "high": found.high}
        return [
            ScoreValue("answer_grade", found.value, details=details),
            ScoreValue("answer_grade_share", found.share),
            *(_flag(f"graded_{name}", name, bands) for name in BANDS),
        ]


SCORERS.register(AnswerGrade())


def _chosen(grades: dict[str, Rating], wanted: str) -> Rating | str:
    """The grade that is meant, or why there is none."""
    if not grades:
        return NO_GRADE
    if wanted != "auto" and wanted not in grades:
        return f"it has no grade {wanted}; there is: {', '.join(grades)}"
    if wanted == "auto" and len(grades) > 1:
        return f"its grades are of several criteria ({', '.join(grades)}): choose one with --param criterion=NAME"
    found = grades[wanted] if wanted != "auto" else next(iter(grades.values()))
    return f"its {found.criterion} is open" if found.value is None else found


def _flag(name: str, band: str, bands: Sequence[Rating]) -> ScoreValue:
    if not bands:
        return ScoreValue(name, None, "its protocol has no bands correct, partial and incorrect")
    if bands[0].word is None:
        return ScoreValue(name, None, f"its {bands[0].criterion} is open")
    return ScoreValue(name, float(bands[0].word == band))
