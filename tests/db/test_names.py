"""What may be a name, and how errors list those that there are."""

from __future__ import annotations

import pytest

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound, listed
from db.designing.drafts import save_draft
from db.designing.making import create_study
from db.engine import Database
from db.names import no_project, visible_name
from db.people.accounts import actor_named
from db.releasing.releases import make_release
from tests.makers import StudyInUse, tiny_protocol


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\u202eevil", "a\u0000", "\ud800", "x" * 101])
def test_what_cannot_be_seen_or_is_endless_is_no_name(name: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^The name .* does not fit: it needs 1 to 100 visible characters\.$"
    ) as wrong:
        visible_name(name, "name", 100)
    assert len(str(wrong.value)) < 200


def test_names_of_every_script_are_kept_composed_and_without_space_around() -> None:
    assert visible_name(" Ame\u0301lie ", "name", 100) == "Am\u00e9lie"
    assert visible_name("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "name", 100).count("\u200c") == 1


@pytest.mark.parametrize("name", ["a\nb", "\u202eevil", "x" * 100_000])
def test_studies_and_releases_are_called_what_stands_on_one_line(database: Database, name: str) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.label_all(0)
    about = (database, study.researcher, study.project_id)
    design = StudyDesign(name=name, annotators=(study.annotators[0].name,), overlap=1)
    with pytest.raises(InvalidInput, match=r"study's name .* does not fit"):
        create_study(*about, protocol=tiny_protocol(), design=design)
    with pytest.raises(InvalidInput, match=r"study's name .* does not fit"):
        save_draft(*about, protocol=tiny_protocol(), design=design)
    with pytest.raises(InvalidInput, match=r"release's name .* does not fit"):
        make_release(*about, name=name)


def test_a_name_with_a_comma_is_listed_in_quotation_marks() -> None:
    known = ["MMDocRAG, Mixed", "Reports", "a\nb", "x" * 500]
    assert listed(known[:2]) == "'MMDocRAG, Mixed', Reports"
    assert "\n" not in listed(known) and len(listed(known)) < 200
    assert listed([f"s{n}" for n in range(30)]).endswith("s19, …")
    assert (listed([]), listed([], "none yet")) == ("none", "none yet")
    assert str(no_project("y" * 100_000, "ada", known[:2])).endswith("can see. Known: 'MMDocRAG, Mixed', Reports.")
    assert len(str(no_project("y" * 100_000, "ada", known))) < 500


def test_somebody_whose_name_is_no_text_is_nobody(database: Database) -> None:
    with pytest.raises(InvalidInput, match=r"has the character U\+DCFF, which cannot be stored"):
        actor_named(database, "a\udcff")
    with pytest.raises(NotFound, match="no person named"):
        actor_named(database, "nobody")
