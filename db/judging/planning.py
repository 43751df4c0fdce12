"""Before a run of a judge: the study that it is over, what it would send, and about what that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col

from annotators.addresses import is_here
from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput
from annotators.figures import count
from annotators.judges.base import Call, Picture
from annotators.judges.budget import Price, likely_tokens, most_tokens
from annotators.judges.judging import mark_of
from annotators.judges.prompts import Prompt, calls
from annotators.protocols import Protocol
from db.engine import Database
from db.items.read import item_counts
from db.judging.examples import check_examples_may_leave, example_items
from db.judging.items import ItemToJudge, count_to_judge, drawn_items, ids_to_judge, read_to_judge, secret_of
from db.judging.judges import JudgeSettings
from db.judging.run import ALL, Sample
from db.judging.said import people_labelled
from db.models import Item, ItemVersion, Study, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.studies.design import choose_and_insert, protocol_of

LOOKED_AT = 100
"""Items that a plan is made from, spread over the study."""


@dataclass(frozen=True)
class JudgePlan:
    """What a run would send, by a look at some of its items.

    `requests` and tokens are for all items, conditional criteria taken as asked; `cost` is None where no price is
    known. `most_tokens` is what cannot be passed. `shows` are the materials that leave this machine (empty: nothing
    does). `examples` are the items that are not judged, because their question is that of an example of the prompt.
    `longest` is the item of the longest request, with about how many tokens it has.
    """

    items: int
    requests: int
    tokens_in: int
    tokens_out: int
    most_tokens: int
    cost: float | None
    pictures: bool
    shows: tuple[str, ...]
    kept: int
    examples: tuple[str, ...]
    first_prompt: str
    longest: tuple[int, int]

    def leaves(self, server: str) -> str | None:
        """What leaves this machine, and for where, in words to be confirmed; None where nothing does."""
        if not self.shows:
            return None
        what = f"{', '.join(self.shows)}{' and pictures of pages' if self.pictures else ''}"
        return f"{what} of {count(self.items - self.kept, 'item')} leave this machine for {server}"

    def to_json(self) -> dict[str, Any]:
        """As `--dry-run` prints it."""
        return {
            "items": self.items,
            "requests": self.requests,
            "tokens": {"in": self.tokens_in, "out": self.tokens_out},
            "most_tokens": self.most_tokens,
            "cost": self.cost,
            "pictures": self.pictures,
            "leaves": list(self.shows),
            "kept_here": self.kept,
            "examples": list(self.examples),
            "longest_request": self.longest[1],
            "first_prompt": self.first_prompt,
        }


@operation(On.STUDY, RESEARCHERS)
def plan_judging(
    db: Database,
    _actor: Actor,
    study_id: int,
    *,
    judge: JudgeSettings,
    protocol: Protocol | None = None,
    sample: Sample = ALL,
    price: Price | None = None,
    context: int | None = None,
) -> JudgePlan:
    """What `run_judge` would send. Nothing is sent, and nothing of the study changes.

    InvalidInput for a `protocol` that is not the study's, for a prompt that does not fit it or has an example that must
    not leave this machine, and for an item whose request the model's `context` (tokens) cannot take.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        wanted, protocol = protocol, protocol_of(study)
        if wanted is not None and wanted.digest() != study.protocol_hash:
            raise InvalidInput(
                f"The study {study.name!r} has {protocol.name}@{protocol.version}, not {wanted.name}@{wanted.version} "
                "as it is now. Leave the protocol out, or leave the study out to have one made."
            )
        check_prompt(judge.prompt, protocol)
        check_examples_may_leave(session, study.project_id, judge.prompt, judge.server)
        among = drawn_items(session, study, sample.n, sample.per, sample.seed)
        n = count_to_judge(session, study, among=among)
        examples = example_items(session, study, judge.prompt)
        looked = _spread(session, study, among, n, elsewhere=not is_here(judge.server))
        session.expunge(study)
    secret = secret_of(db, study.project_id)
    asked = without_conditions(protocol)

    def calls_of(item: ItemToJudge) -> Iterator[Call]:
        for call in _calls(asked, judge, item, secret):
            yield from [call] * judge.samples

    left_out = tuple(name for of, name in examples.items() if among is None or of in among)
    return plan_of(db, looked, calls_of, judge, n=n, price=price, context=context, examples=left_out)


def plan_of(
    db: Database,
    looked: Sequence[ItemToJudge],
    calls_of: Callable[[ItemToJudge], Iterable[Call]],
    judge: JudgeSettings,
    *,
    n: int,
    price: Price | None,
    context: int | None,
    examples: tuple[str, ...] = (),
) -> JudgePlan:
    """What requests of n items come to, by those (`calls_of`) of the ones that were `looked` at.

    InvalidInput without any item, and for a request that the model's `context` cannot take.
    """
    if not looked:
        raise InvalidInput("The study has no items to judge.")
    first, requests, sent, received, most, pictures, longest = "", 0, 0, 0, 0, False, (0, 0)
    for item in looked:
        for call in calls_of(item):
            first = first or written(call)
            likely = likely_tokens(call, judge.most)
            longest = max(longest, (item.study_item_id, sum(likely)), key=lambda found: found[1])
            requests, sent, received = requests + 1, sent + likely[0], received + likely[1]
            most += sum(most_tokens(call, judge.most))
            pictures = pictures or call.pictures > 0
    if context is not None and longest[1] > context:
        raise InvalidInput(
            f"The longest request has about {longest[1]:,} tokens ({_name_of(db, longest[0])}), and the model takes "
            f"{context:,}. Take a model with a longer context, or a protocol that shows less."
        )
    scale = n / len(looked)
    tokens = round(sent * scale), round(received * scale)
    shown = {name for item in looked for step in item.steps for name in step.shown}
    return JudgePlan(
        items=n,
        requests=round(requests * scale),
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        most_tokens=round(most * scale),
        cost=None if price is None else price.of(*tokens),
        pictures=pictures,
        shows=() if is_here(judge.server) else tuple(sorted(shown)),
        kept=round(sum(item.kept for item in looked) * n / len(looked)),
        examples=examples,
        first_prompt=first,
        longest=longest,
    )


def check_prompt(prompt: Prompt, protocol: Protocol) -> None:
    """InvalidInput for a prompt that the protocol cannot be judged with."""
    if wrong := prompt.faults(protocol):
        raise InvalidInput(" ".join(wrong))


def written(call: Call) -> str:
    """A request as people read it."""
    said = []
    for message in call.messages:
        parts = [
            f"[a picture: {part.media_type}]" if isinstance(part, Picture) else part.text for part in message.parts
        ]
        said.append(f"[{message.role}]\n" + "\n\n".join(parts))
    return "\n\n".join(said)


def _name_of(db: Database, study_item_id: int) -> str:
    with db.read() as session:
        version = pick(StudyItem.item_version_id).where(col(StudyItem.id) == study_item_id).scalar_subquery()
        name: str = session.execute(
            pick(Item.external_id)
            .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
            .where(col(ItemVersion.id) == version)
        ).scalar_one()
    return name


class NoPictures:
    """Stands for pages where only their number counts."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, document: int, page: int, box: Sequence[float] | None) -> Picture:
        """A picture without bytes."""
        del document, page, box
        return Picture(b"", "image/png")


def _calls(protocol: Protocol, judge: JudgeSettings, item: ItemToJudge, secret: bytes) -> list[Call]:
    mark = mark_of(secret, item.steps)
    seen = NoPictures(judge.pictures) if judge.pictures else None
    about: dict[str, Any] = {"given": {}, "mark": mark, "pictures": seen, "letters": judge.gives_letters}
    return [call for step in item.steps for call in calls(protocol, judge.prompt, step.material, step.step, **about)]


def without_conditions(protocol: Protocol) -> Protocol:
    """The protocol with every criterion asked, whatever is said to others."""
    criteria = [criterion.model_copy(update={"when": None}) for criterion in protocol.criteria]
    return protocol.model_copy(update={"criteria": criteria})


def _spread(
    session: Session, study: Study, among: Sequence[int] | None, n: int, *, elsewhere: bool
) -> list[ItemToJudge]:
    """Up to `LOOKED_AT` items, in equal distances over all of them."""
    ids = among
    if ids is None and n > LOOKED_AT:
        ids = ids_to_judge(session, study)
    if ids is not None:
        ids = [ids[place * len(ids) // min(LOOKED_AT, len(ids))] for place in range(min(LOOKED_AT, len(ids)))]
    return read_to_judge(session, study, among=ids, limit=LOOKED_AT, elsewhere=elsewhere)


def _is_another(session: Session, study: Study, protocol: Protocol, n_items: int) -> Conflict:
    """Why judges cannot judge by a protocol under the name of this study."""
    if not study.settings.get("foreign") or people_labelled(session, study.id or 0):
        return Conflict(
            f"{study.name!r} is a study that people label. Name it as the STUDY to have it judged, or choose another "
            "name."
        )
    if study.protocol_hash != protocol.digest():
        return Conflict(
            f"{study.name!r} is judged by {study.protocol_name}@{study.protocol_version}, not by "
            f"{protocol.name}@{protocol.version} as it is now. Choose another name."
        )
    return Conflict(
        f"{study.name!r} is about {count(study.n_items, 'item')} as they were when it was made; as the project is now, "
        f"{count(n_items, 'item')} would be judged. Choose another name for them, or name it as the STUDY to go on."
    )


@operation(On.PROJECT, RESEARCHERS)
def study_for_judges(
    db: Database, actor: Actor, project_id: int, *, protocol: Protocol, called: str | None = None
) -> int:
    """The id of the study in which judges judge all items of the project that the protocol can be asked of.

    It has no annotators. The one that is there is taken as long as it is about the items as they are now; else a new
    one is made. By a protocol about pairs all pairs of two systems' answers are judged. It is `called` as is wished,
    else after the protocol; Conflict where a study of that name is another one.
    """
    systems = item_counts(db, actor, project_id).by_system() if protocol.about_pairs else {}
    called = called.strip() if called is not None else None
    with db.write() as session:
        begins = f"{protocol.name} by judges"
        named = col(Study.name).startswith(begins) if called is None else col(Study.name) == called
        names = {
            study.name: study
            for study in session.execute(pick(Study).where(col(Study.project_id) == project_id, named)).scalars()
        }
        name, number = called or begins, 1
        while name in names:
            number += 1
            name = f"{called or begins} ({number})"
        pairs = tuple(sorted(system for system in systems if system))
        design = StudyDesign(name=name, overlap=0, order="given", pairs=pairs)
        made = choose_and_insert(session, actor, project_id, protocol=protocol, design=design)
        same = [
            study
            for study in names.values()
            if (study.protocol_hash, study.sample_hash) == (made.protocol_hash, made.sample_hash)
            and (called is None or not people_labelled(session, study.id or 0))
        ]
        if called is not None and names and not same:
            raise _is_another(session, names[called], protocol, made.n_items)
        if same:
            found: int | None = same[0].id
            session.rollback()
            assert found is not None
            return found
        made.overlap, made.settings = 1, {**made.settings, "foreign": True}
        details = {"name": name, "protocol": protocol.name, "items": made.n_items, "judges": True}
        record(session, actor, "study created", "study", made.id, project_id=project_id, details=details)
        new: int | None = made.id
        assert new is not None
        return new
