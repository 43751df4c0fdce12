"""Settings: where a value comes from, what is refused, and Streamlit's options."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit import config

from annotators.errors import InvalidInput
from app.palette import colours
from app.settings import STREAMLIT_CONFIG, Settings, apply_streamlit_options, has_display
from app.style import style


def test_options_go_before_the_environment_before_the_file_before_defaults(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text('port = 1111\nlook_ahead = 1\nhost = "0.0.0.0"\n')
    environment = {"ASSAY_HOME": str(tmp_path), "ASSAY_PORT": "2222", "ASSAY_LOOK_AHEAD": "2"}
    settings = Settings.load(environment, port=3333)
    assert (settings.port, settings.look_ahead, settings.host, settings.lease_minutes) == (3333, 2, "0.0.0.0", 60)
    sources = {setting.name: setting.source for setting in settings.describe(environment)}
    assert (sources["look_ahead"], sources["host"], sources["lease_minutes"]) == (
        "ASSAY_LOOK_AHEAD",
        "assay.toml",
        "default",
    )


def test_the_home_folder_decides_where_everything_is(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path / "new")
    assert settings.database == f"sqlite:///{tmp_path}/new/assay.db"
    assert settings.documents_folder == tmp_path / "new" / "data" / "documents"
    settings.prepare()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    elsewhere = Settings.load({"ASSAY_DATABASE_URL": "postgresql://u:secret@db/assay"}, home=tmp_path)
    assert elsewhere.database == "postgresql://u:secret@db/assay"
    assert not any("secret" in setting.value for setting in elsewhere.describe({}))
    servers = "http://us:secret@judge.example:8000/v1,https://judge.example/v1?key=secret#secret"
    told = {setting.name: setting.value for setting in Settings.load({"ASSAY_JUDGE_SERVERS": servers}).describe({})}
    assert told["judge_servers"] == "http://judge.example:8000/v1,https://judge.example/v1"


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("ASSAY_PORT", "eighty", "ASSAY_PORT is 'eighty'; it must be a whole number"),
        ("ASSAY_PORT", "65536", "from 0 to 65535"),
        ("ASSAY_RENDER_WORKERS", "0", "at least 1"),
        ("ASSAY_SECURE_COOKIE", "maybe", "one of auto, always, never"),
        ("ASSAY_PUBLIC_URL", "assay.example.org", "must look like https://"),
        ("ASSAY_PUBLIC_URL", "https://example.org/assay", "without a path"),
        ("ASSAY_TRUSTED_PROXY", "proxy", "ASSAY_TRUSTED_PROXY has 'proxy', which is no address"),
        ("ASSAY_TRUSTED_PROXY", "10.0.0.5, *", r"'\*', which is no address. Write the proxy's address"),
        ("ASSAY_TRUSTED_PROXY", "10.0.0.5:8080", "which is no address"),
        ("ASSAY_TRUSTED_PROXY", "10.0.0.5/8", "no address .*host bits.* such as 10.0.0.0/8"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_variable(variable: str, value: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Settings.load({variable: value})


def test_a_database_in_the_home_folder_that_is_passed_over_is_told(tmp_path: Path) -> None:
    elsewhere = Settings.load({"ASSAY_DATABASE_URL": "postgresql://db/assay"}, home=tmp_path)
    assert elsewhere.passed_over is None
    (tmp_path / "assay.db").touch()
    assert f"{tmp_path}/assay.db is there and is not used" in (elsewhere.passed_over or "")
    for own in ({}, {"ASSAY_DATABASE_URL": f"sqlite:///{tmp_path}/assay.db"}):
        assert Settings.load(own, home=tmp_path).passed_over is None


def test_proxies_are_addresses_and_networks() -> None:
    settings = Settings.load({"ASSAY_TRUSTED_PROXY": " 10.0.0.5,172.16.0.0/12 , ::1,"})
    assert settings.proxies == ["10.0.0.5", "172.16.0.0/12", "::1"]


def test_a_variable_that_is_no_setting_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"ASSAY_TRUSTED_PROXIES is set, .* Did you mean ASSAY_TRUSTED_PROXY\?"):
        Settings.load({"ASSAY_TRUSTED_PROXIES": "10.0.0.5"})
    with pytest.raises(InvalidInput, match=r"^ASSAY_XYZ is set, which is no setting\. Correct its name, .* ASSAY_PORT"):
        Settings.load({"ASSAY_XYZ": "1"}, home=tmp_path)
    Settings.load({"ASSAY_XYZ": "", "ASSAYER": "1", "ASSAY_TEST_BROWSER": "chromium"}, home=tmp_path)


def test_an_unknown_name_in_the_file_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text("prot = 8080\n")
    with pytest.raises(InvalidInput, match=r"'prot', which is no setting\. Known: .*port"):
        Settings.load({}, home=tmp_path)


def test_every_setting_has_help_that_is_a_sentence() -> None:
    for setting in Settings.load({}).describe({}):
        assert setting.help.endswith("."), setting.name
        assert setting.variable == f"ASSAY_{setting.name.upper()}"


def test_the_options_of_streamlit_config_are_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "_config_options", None)
    applied = apply_streamlit_options(Settings.load({}, upload_mb=77))
    assert {name: config.get_option(name) for name in applied} == applied
    assert applied["runner.postScriptGC"] is False
    assert applied["browser.gatherUsageStats"] is False
    assert applied["server.enableAgentApi"] is False
    assert config.get_option("server.maxUploadSize") == 77


def test_an_option_that_streamlit_does_not_know_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[runner]\npostScriptGb = false\n")
    monkeypatch.setattr(config, "_config_options", None)
    with pytest.raises(InvalidInput, match="postScriptGb"):
        apply_streamlit_options(path=path)


def test_no_option_asks_for_anything_from_outside() -> None:
    assert not [line for line in STREAMLIT_CONFIG.read_text().splitlines() if "//" in line and line[:1] != "#"]
    assert "url(" not in style("light")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_every_background(theme: str) -> None:
    named = colours(theme)
    for ink in ("ink", "soft", "accent", "ok", "warn"):
        for ground in ("bg", "panel", "key"):
            # WCAG 2.2, success criterion 1.4.3: at least 4.5 : 1 for text
            assert _contrast(named[ink], named[ground]) >= 4.5, (ink, ground)
    on_accent = "#ffffff" if theme == "light" else "#10202c"
    assert _contrast(on_accent, named["accent"]) >= 4.5


def _contrast(colour: str, other: str) -> float:
    """WCAG 2.2's contrast ratio of two colours."""
    lighter, darker = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("environment", "platform", "shown"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "10.0.0.1 22 10.0.0.2 22"}, "linux", False),
        ({"DISPLAY": ":99", "CI": "true"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "10.0.0.1 22 10.0.0.2 22"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_only_where_somebody_would_see_it(
    environment: dict[str, str], platform: str, *, shown: bool
) -> None:
    assert has_display(environment, platform) == shown
