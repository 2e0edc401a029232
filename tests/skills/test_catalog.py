"""Which skills there are, what counts of several, and when one must not run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.skills.catalog import Origin, SkillCatalog, drift, script_path, scripts_of
from echo_bot.skills.errors import SkillError
from echo_bot.skills.install import Installer
from echo_bot.skills.lock import FILE_NAME, LockFile
from echo_bot.skills.sources import Source
from echo_bot.skills.tree import SkillTree

MakeSkill = Callable[..., Path]
MakeFiles = Callable[..., dict[str, bytes]]
HERE = Source("local", "x")


def test_the_operators_own_counts_before_the_installed_and_the_packaged(
    make_skill: MakeSkill, catalog: SkillCatalog
) -> None:
    for place in ("packaged", "state/skills", "own"):
        make_skill(place)
    skill = catalog.get("greeting")
    assert skill.origin is Origin.OWN
    assert skill.hides == (Origin.INSTALLED, Origin.PACKAGED)


def test_no_folder_is_no_skill(catalog: SkillCatalog) -> None:
    found = catalog.found()
    assert not found.skills
    assert not found.broken


def test_a_broken_skill_is_named_and_breaks_no_other(
    make_skill: MakeSkill, catalog: SkillCatalog, tmp_path: Path
) -> None:
    make_skill("own", "good")
    (make_skill("own", "bad") / "SKILL.md").write_text("nothing")
    os.rename(make_skill("own", "one"), tmp_path / "own" / "other")
    found = catalog.found()
    assert [skill.name for skill in found.skills] == ["good"]
    assert {broken.name for broken in found.broken} == {"bad", "other"}
    with pytest.raises(SkillError, match=r"bad cannot be used: .*SKILL\.md:1"):
        catalog.get("bad")


def test_an_unknown_name_gets_the_nearest(make_skill: MakeSkill, catalog: SkillCatalog) -> None:
    make_skill("own")
    with pytest.raises(SkillError, match="did you mean greeting"):
        catalog.get("greetings")


def test_a_link_in_place_of_the_skill_file_is_refused(
    make_skill: MakeSkill, catalog: SkillCatalog, tmp_path: Path
) -> None:
    folder = make_skill("own")
    (tmp_path / "elsewhere").write_bytes((folder / "SKILL.md").read_bytes())
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(tmp_path / "elsewhere")
    assert catalog.found().skills == ()


def test_switched_off_by_the_configuration_and_by_a_person(
    make_skill: MakeSkill, make_catalog: Callable[..., SkillCatalog], installer: Installer
) -> None:
    make_skill("own", "one")
    make_skill("own", "two")
    installer.switch("two", on=False)
    catalog = make_catalog(disabled=["one"])
    assert [skill.disabled_by for skill in catalog.found().skills] == ["skills.disabled", "skill_manage"]
    assert catalog.offered() == ()
    installer.switch("two", on=True)
    assert [skill.name for skill in catalog.offered()] == ["two"]


def change_a_file(folder: Path) -> None:
    (folder / "scripts" / "a.py").write_text("print('other')")


def add_a_file(folder: Path) -> None:
    (folder / "scripts" / "json.py").write_text("")


def remove_a_file(folder: Path) -> None:
    (folder / "scripts" / "a.py").unlink()


def change_the_text(folder: Path) -> None:
    with (folder / "SKILL.md").open("a") as file:
        file.write("more")


@pytest.mark.parametrize("change", [change_a_file, add_a_file, remove_a_file, change_the_text])
def test_any_change_of_an_installed_skill_is_drift(
    change: Callable[[Path], None], files_of: MakeFiles, installer: Installer, catalog: SkillCatalog
) -> None:
    installer.install(files_of(scripts__a_py="print()"), HERE, "cli:local", replace=False)
    skill = catalog.get("greeting")
    assert not drift(skill)
    change(skill.folder)
    assert "changed since its digest was pinned" in drift(skill)
    installer.pin(skill, "cli:local")
    assert not drift(catalog.get("greeting"))


def test_a_link_that_appears_refuses_the_skill(
    files_of: MakeFiles, installer: Installer, catalog: SkillCatalog
) -> None:
    installer.install(files_of(scripts__a_py="print()"), HERE, "cli:local", replace=False)
    skill = catalog.get("greeting")
    (skill.folder / "data").symlink_to("/etc")
    with pytest.raises(SkillError, match="a link"):
        drift(skill)


def test_what_python_compiles_is_no_part_of_a_skill(make_skill: MakeSkill) -> None:
    tree = SkillTree(make_skill("own", scripts__a_py="print()"))
    before = tree.digest()
    (tree.root / "scripts" / "__pycache__").mkdir()
    (tree.root / "scripts" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    assert tree.digest() == before


def test_a_skill_put_there_by_hand_must_be_pinned_first(make_skill: MakeSkill, catalog: SkillCatalog) -> None:
    make_skill("state/skills")
    assert "without skill_install" in drift(catalog.get("greeting"))


def test_own_and_packaged_skills_need_no_pin(make_skill: MakeSkill, catalog: SkillCatalog) -> None:
    make_skill("own", "one")
    make_skill("packaged", "two")
    assert [drift(skill) for skill in catalog.found().skills] == ["", ""]


def test_scripts_are_those_named_or_those_under_scripts(make_skill: MakeSkill, catalog: SkillCatalog) -> None:
    make_skill("own", "one", more="scripts: {tool.py: does it}\n", tool_py="", scripts__a_py="")
    make_skill("own", "two", scripts__a_py="", other_py="")
    assert scripts_of(catalog.get("one")) == {"tool.py": "does it"}
    assert scripts_of(catalog.get("two")) == {"scripts/a.py": ""}


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("../../own/greeting/scripts/a.py", "leaves the skill"),
        ("/bin/sh", "absolute"),
        ("scripts/../scripts/a.py", "leaves the skill"),
        ("scripts", "not a script"),
        ("nothing.py", "its scripts are: scripts/a.py"),
        ("SKILL.md", "not a Python script"),
        ("", "must have"),
        ("-c", "not a script"),
    ],
)
def test_a_script_outside_is_refused(
    script: str, says: str, make_skill: MakeSkill, catalog: SkillCatalog
) -> None:
    make_skill("own", scripts__a_py="")
    with pytest.raises(SkillError, match=says):
        script_path(catalog.get("greeting"), script)


def test_a_script_may_be_named_without_its_folder(make_skill: MakeSkill, catalog: SkillCatalog) -> None:
    make_skill("own", scripts__a_py="")
    assert script_path(catalog.get("greeting"), "a.py") == "scripts/a.py"


def test_a_hard_link_is_no_file_of_a_skill(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill("own")
    (tmp_path / "secret").write_text("x")
    os.link(tmp_path / "secret", folder / "notes.md")
    with pytest.raises(SkillError, match="hard links"):
        SkillTree(folder).read("notes.md")
    with pytest.raises(SkillError, match="hard links"):
        SkillTree(folder).digest()


def test_a_damaged_lock_file_refuses_and_stays(
    catalog: SkillCatalog, lock: LockFile, tmp_path: Path, installer: Installer
) -> None:
    file = tmp_path / "state" / FILE_NAME
    file.parent.mkdir()
    file.write_text('{"pins": {"a": 1}}')
    with pytest.raises(SkillError, match="damaged"):
        catalog.found()
    with pytest.raises(SkillError, match="damaged"):
        installer.switch("a", on=False)
    assert file.read_text() == '{"pins": {"a": 1}}'


def test_the_lock_file_is_readable_for_this_user_alone(lock: LockFile, tmp_path: Path) -> None:
    lock.write(lock.read().switched("a", on=False))
    assert (tmp_path / "state" / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "state") == [FILE_NAME]
