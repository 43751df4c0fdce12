"""One study: its progress, its results, its design with hashes, its protocol, and what annotators remarked."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotators.asking.asides import ASIDES, asked_by
from annotators.asking.planting import Planting
from annotators.asking.qualifying import Qualifying
from annotators.asking.rounds import DOUBLE, SINGLE
from annotators.designing.design import DYNAMIC
from annotators.designing.own_figures import OWN_FIGURES, PROGRESS
from annotators.designing.phases import phases_of
from annotators.designing.talk import ALL, DISPUTED, NEVER
from annotators.items.sampling import BY_SCORE, ORDERS
from annotators.protocols import Protocol
from app import ui, wording
from app.pages.study import amendments, criteria, draft, invitations, progress, results, so_far
from app.widgets import blocks, choices, protocol_view
from app.widgets.designing.known_items import BELOW_WORDS
from app.widgets.doing import needs
from app.widgets.study_form import FIRSTS, QUEUES, SUGGESTIONS, sample_in_words
from db.adjudicating.adjudications import MOST_COUNTED, disputes_for_me
from db.designing.arms import arms_of
from db.models import Study, StudyState
from db.permissions import READERS, RESEARCHERS, Role
from db.projects import my_projects
from db.studies.design import StudyRow, list_studies, protocol_of, slots_of, study_facts
from db.studies.remarks import Remark, StudyRemarks, study_remarks

_TABS = ["Progress", "Criteria", "Results", "Design", "Protocol", "Flags and skips"]
_WHY_LEFT_OUT = {
    "where": "for which the conditions do not hold",
    "known": "whose right labels are known, as gold or to qualify with",
    "scores": "without the scores that are judged",
    "documents": "without a readable document",
    "lacking": "that lack what they are judged by",
    "unasked": "about which nothing would be asked",
    "same_question": "of a question that another item asks",
    "other_systems": "of other systems",
    "one_side": "without the other side of the pair",
}
_RULES = {"unanimous": "when all annotators agree", "majority": "when more than half agree"}
_TALKS = {
    NEVER: "",
    DISPUTED: "where they disagree, once all have labelled it",
    ALL: "once all have labelled it, about every item",
}
_ADJUDICATIONS = {
    SINGLE: "by one adjudicator",
    DOUBLE: "by two adjudicators blind to each other, and a third where they differ",
}


def page() -> None:
    """Draw the page."""
    blocks.style()
    if (draft_id := ui.integer_parameter("draft")) is not None:
        draft.draw(draft_id)
        return
    study = _study()
    if study is None:
        return
    row = next(row for row in list_studies(ui.db(), ui.actor(), study.project_id) if row.study_id == study.id)
    protocol = protocol_of(study)
    about = f"{protocol.title}, {wording.count(study.n_items, protocol.noun)}, overlap {study.overlap}"
    ui.heading(study.name, f"{about}, made {ui.when(study.created_at)}")
    _links(row, protocol.noun)
    needs.dialog("progress")
    asked = st.query_params.get("show", "").lower()
    first = next((name for name in _TABS if name.lower() == asked), _TABS[0])
    tabs = st.tabs(_TABS, default=first, key=f"study-tabs-{study.id}", on_change="rerun")
    for tab, name in zip(tabs, _TABS, strict=True):
        if not tab.open:
            continue
        with tab:
            match name:
                case "Progress":
                    progress.draw(row)
                    so_far.draw(row, protocol.noun)
                case "Criteria":
                    criteria.draw(row)
                case "Results":
                    results.draw(row)
                case "Design":
                    amendments.draw(study)
                    invitations.draw(study)
                    _design(study, protocol)
                case "Protocol":
                    protocol_view.draw(protocol)
                case _:
                    _remarks(study, study_remarks(ui.db(), ui.actor(), row.study_id))


def _study() -> Study | None:
    """The study of the address (`?study=ID`), else the project's newest."""
    wanted = ui.integer_parameter("study")
    if wanted is None:
        project = ui.project()
        studies = list_studies(ui.db(), ui.actor(), project.project_id)
        if not studies:
            choices.no_study(project, "Study", "how far it is, and what came of it, is shown here.")
            return None
        wanted = studies[-1].study_id
    return study_facts(ui.db(), ui.actor(), wanted)


def _links(row: StudyRow, noun: str) -> None:
    parameters = {"study": row.study_id, "project": row.project_id}
    cells = [blocks.to("All studies", "studies", project=row.project_id)]
    if row.state != StudyState.RUNNING:
        cells.insert(0, amendments.tag(row.state))
    if row.submitted:
        cells.append(blocks.to("Agreement so far", "agreement", **parameters))
    cells += _arms(row)
    role = _role(row.project_id)
    if role is not None and ui.may(role, RESEARCHERS):
        cells.append(blocks.to("Annotators", "annotators", **parameters))
    if decisions := disputes_for_me(ui.db(), ui.actor()).get(row.study_id, 0):
        waiting = wording.at_least([decisions], noun, most=MOST_COUNTED)
        cells.append(blocks.to(f"Adjudicate {waiting}", "adjudicate", **parameters))
    if row.waits_for_me:
        left = wording.count(row.returned or row.left_for_me, noun)
        cells.append(blocks.to(f"Annotate {left}", "annotate", **parameters))
    blocks.links(*cells)


def _arms(row: StudyRow) -> list[blocks.Html]:
    """Links to the other arms, for who may know them."""
    role = _role(row.project_id)
    if role is None or not ui.may(role, READERS):
        return []
    others = [arm for arm in arms_of(ui.db(), ui.actor(), row.study_id) if arm.study_id != row.study_id]
    return [blocks.to(f"Arm {arm.arm}", "study", study=arm.study_id, project=row.project_id) for arm in others]


# Design ---------------------------------------------------------------------------------------------------------------


def _design(study: Study, protocol: Protocol) -> None:
    settings = study.settings
    names = "shown to adjudicators" if settings.get("show_names") else "hidden from adjudicators"
    review = settings.get("review_agreed", 0)
    own = "may" if settings.get("allow_own_adjudication") else "may not"
    blocks.facts(
        [
            ("Protocol", f"{protocol.title} ({protocol.name}), version {protocol.version}"),
            ("Protocol SHA-256", _hash(study.protocol_hash)),
            (f"{protocol.noun.capitalize()}s", f"{study.n_items:,}"),
            ("Sample", f"{_sample(settings)}, seed {study.seed}"),
            ("Sample SHA-256", _hash(study.sample_hash)),
            ("Order", _order(study)),
            ("Overlap", f"{study.overlap}: {wording.count(slots_of(study), 'slot')}"),
            ("Overlap of a part", _of_part(settings, protocol.noun)),
            ("Where people disagree", f"up to {most} annotations" if (most := settings.get("most_overlap")) else ""),
            ("A label is settled", _RULES[study.rule]),
            ("Annotators' names", names),
            ("Disputed items are decided", _ADJUDICATIONS[settings.get("adjudication", SINGLE)]),
            ("Annotators of an item talk about it", _TALKS[settings.get("talk", NEVER)]),
            ("Agreed items looked at as well", _share(review) if review else "none"),
            ("May end", f"when a mean is known to ±{stop:g}" if (stop := settings.get("stop_at")) else ""),
            ("Adjudicators", f"{own} decide items that they annotated themselves"),
            (f"Who gets which {protocol.noun}", QUEUES[settings.get("queue", DYNAMIC)]),
            ("Quota", f"{wording.count(quota, protocol.noun)} for each" if (quota := settings.get("quota")) else ""),
            ("Scores judged", ", ".join(study.show_scores)),
            ("Left out", _left_out(settings)),
            ("Suggestions of models", SUGGESTIONS[settings.get("suggestions", "never")]),
            ("Suggested by", settings.get("suggested_judge", {}).get("name", "")),
            ("Asked beside labels", " ".join(ASIDES[name].title for name in asked_by(settings))),
            ("Consent and questions", _phases(settings)),
            *(_known(settings) if _role(study.project_id) in RESEARCHERS else ()),
            ("Annotators see of their own figures", OWN_FIGURES[settings.get("own_figures", PROGRESS)]),
            ("Lease", f"{study.lease_minutes} minutes"),
            ("Deadline", ui.when(study.deadline) if study.deadline else ""),
            ("Made", ui.when(study.created_at)),
        ]
    )
    about = "Change it and make a new study of it; this study's protocol is frozen."
    protocol_view.download(protocol, "Protocol as YAML", key="study-protocol-yaml", about=about)


def _sample(settings: dict[str, Any]) -> str:
    """What was drawn of which items."""
    named, where = settings.get("items") or (), settings.get("where") or ()
    of = [wording.count(len(named), "item") + " by their ids"] if named else []
    of += [f"those where {' and '.join(where)}"] if where else []
    of += ["those with a document that can be looked at"] if settings.get("with_documents") else []
    of += ["those too that lack what they are judged by"] if settings.get("keep_lacking") else []
    if settings.get("sample") is None:
        return ", ".join(of) or "all items"
    drawn = sample_in_words(settings["sample"], settings.get("per"))
    return f"{drawn}, of {', '.join(of)}" if of else drawn


def _phases(settings: dict[str, Any]) -> str:
    """What is put to annotators around the items."""
    phases = phases_of(settings)
    before, after = (wording.count(len(asked), "question") for asked in (phases.before, phases.after))
    said = ["a consent"] if phases.consent.strip() else []
    said += [f"{before} before the first item"] if phases.before else []
    said += [f"{after} after the last"] if phases.after else []
    return ", ".join(said)


def _known(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Gold items, repeats and the qualification, for those who design studies."""
    planting, asked, gold = Planting.of(settings), Qualifying.of(settings), settings.get("gold_items", 0)
    there = f"{wording.count(gold, 'item')}, {_share(planting.gold_rate)} of what somebody is given; below "
    there += f"{_share(planting.mark)} right of {planting.mark_after} or more: {BELOW_WORDS[planting.below]}"
    again = f"{_share(planting.repeat_rate)} of what somebody is given, after {planting.repeat_after} others"
    first = f"{wording.count(asked.items, 'item')}, {_share(asked.mark)} right to pass, "
    return [
        ("Gold items", there if gold else ""),
        ("Repeats", again if planting.repeat_rate else ""),
        ("Qualification", first + wording.count(asked.tries, "try", "tries") if asked.items else ""),
    ]


def _left_out(settings: dict[str, Any]) -> str:
    """How many items were left out, and why; a study made before reasons were kept says how many alone."""
    why: dict[str, int] = settings.get("left_out_by", {})
    said = [f"{wording.count(n, 'item')} {_WHY_LEFT_OUT.get(reason, reason)}" for reason, n in why.items()]
    n_in_all = settings.get("left_out", 0)
    return "; ".join(said) or (wording.count(n_in_all, "item") if n_in_all else "")


def _share(of: float) -> str:
    return f"{100 * of:.3g} %"


def _role(project_id: int) -> Role | None:
    """The reader's role in the study's project."""
    return next((row.role for row in my_projects(ui.db(), ui.actor()) if row.project_id == project_id), None)


def _order(study: Study) -> str:
    """The order in words for those who may know it: a score must not tell annotators what comes first."""
    if study.item_order != BY_SCORE:
        return ORDERS[study.item_order]
    role = _role(study.project_id)
    if role is None or not ui.may(role, READERS):
        return ""
    score, first = study.settings["order_score"], FIRSTS[study.settings["order_first"]]
    return f"By {score}, {first.lower()} first as a rule, drawn with known probabilities"


def _of_part(settings: dict[str, Any], noun: str) -> str:
    n = settings.get("part_items")
    return f"{settings['part_overlap']} for {wording.count(n, noun)}" if n else ""


def _hash(digest: str) -> blocks.Html:
    return blocks.Html(f'<span class="assay-hash">{blocks.identifier(digest).html}</span>', digest)


# Remarks --------------------------------------------------------------------------------------------------------------


def _remarks(study: Study, found: StudyRemarks) -> None:
    if not any(found.totals.values()) and not found.cannot_judge:
        ui.empty("Nobody has flagged, commented or skipped anything.", "What annotators remark appears here.")
        return
    _listed("Flags", "flags", study, found.flags, found.totals["flags"])
    _listed("Comments", "comments", study, found.comments, found.totals["comments"])
    _listed("Skipped items", "skips", study, found.skips, found.totals["skips"])
    if found.cannot_judge:
        st.subheader("Cannot judge")
        ui.table("Cannot judge", ("Criterion", "Reason", "Times"), found.reasons, name=f"cannot-judge-{study.id}")


def _listed(title: str, name: str, study: Study, remarks: list[Remark], total: int) -> None:
    if not remarks:
        return
    st.subheader(title)
    about = any(remark.about for remark in remarks)
    named = any(remark.who for remark in remarks)
    columns = ["Item", *(["About"] if about else []), title.rstrip("s"), *(["By"] if named else []), "When"]
    rows = [
        [
            blocks.item(remark.item, remark.item_id, study.project_id),
            *([remark.about] if about else []),
            remark.text or wording.NO_REASON,
            *([blocks.short(remark.who)] if named else []),
            blocks.short(ui.when(remark.at)),
        ]
        for remark in remarks
    ]
    blocks.table(title, columns, rows, name=f"{name}-{study.id}")
    if total > len(remarks):
        st.caption(f"The latest {len(remarks)} of {total:,} are shown; the export of labels has all.")
