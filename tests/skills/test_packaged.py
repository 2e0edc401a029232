"""The skills in the package: each is sound, each script runs, and the wheel carries them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from echo_bot.skills.catalog import PACKAGED, Skill, SkillCatalog, SkillPlaces, scripts_of
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.lock import LockFile
from echo_bot.skills.scan import hints, injections

ROOT = Path(__file__).parents[2]
HERE = Surrounding(sys.executable, os.environ["PATH"], {}, frozenset())


def packaged() -> tuple[Skill, ...]:
    found = SkillCatalog(SkillPlaces(Path("/nowhere")), LockFile(Path("/nowhere"))).found()
    assert found.broken == ()
    return found.skills


def run(skill: str, script: str, *args: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    """As skill_run starts it."""
    return subprocess.run(
        [sys.executable, "-B", f"scripts/{script}", *args],
        cwd=PACKAGED / skill,
        env={"WORKSPACE": str(workspace), "PATH": os.environ["PATH"], "HOME": str(workspace)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_are_three_and_nothing_is_missing() -> None:
    assert [skill.name for skill in packaged()] == ["csv-summary", "git-changelog", "markdown-html"]
    for skill in packaged():
        assert not HERE.missing(skill.manifest.dependencies)
        assert skill.manifest.license == "MIT"
        assert len(scripts_of(skill)) == 1


@pytest.mark.parametrize("skill", packaged(), ids=lambda skill: skill.name)
def test_they_pass_what_installed_skills_must_pass(skill: Skill) -> None:
    files = skill.tree.read_all()
    assert injections(files) == hints(files) == ()
    assert set(scripts_of(skill)) <= set(files)


def test_a_table_is_summarised(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "city;people;since\nOslo;700000;2024-01-02\nRome;2800000;2023-05-06\nOslo;;x\n\nBonn;1\n"
    )
    done = run("csv-summary", "summarize.py", "t.csv", workspace=tmp_path)
    assert done.stdout == (
        "4 rows, 3 columns\n"
        "1 rows have another number of fields than the header\n"
        "city: text 4; missing 0\n  3 different values\n"
        "  most frequent: Oslo (2), Rome (1), Bonn (1)\n"
        "people: number 3; missing 1\n  minimum 1, mean 1.16667e+06, maximum 2.8e+06\n  3 different values\n"
        "since: date 2, text 1; missing 1\n  from 2023-05-06 to 2024-01-02\n  3 different values\n"
        "  most frequent: 2024-01-02 (1), 2023-05-06 (1), x (1)\n"
    )


@pytest.mark.parametrize("content", [b"", b"a\n", b"\xff\xfe\x00", b'"unclosed\n1'])
def test_a_table_that_is_none_is_no_crash(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    done = run("csv-summary", "summarize.py", "t.csv", workspace=tmp_path)
    assert "Traceback" not in done.stderr


def test_a_missing_table_is_said(tmp_path: Path) -> None:
    done = run("csv-summary", "summarize.py", "none.csv", workspace=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "none.csv cannot be summarised" in done.stderr


def commit(folder: Path, *subjects: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, "init", "--quiet"], cwd=folder, check=True)
    for subject in subjects:
        words = ["tag", subject[1:]] if subject[0] == "@" else ["commit", "--allow-empty", "-qm", subject]
        subprocess.run(["git", *settings, *words], cwd=folder, check=True)


def test_commits_become_release_notes(tmp_path: Path) -> None:
    commit(
        tmp_path, "feat: old", "@v1", "feat(ui): a button", "fix: a crash", "chore: tidy",
        "feat!: other names", "Add a door", "Something else",
    )  # fmt: skip
    done = run("git-changelog", "changelog.py", workspace=tmp_path)
    lines = [line.rsplit(" (", 1)[0] for line in done.stdout.splitlines() if line]
    assert lines == [
        "## Changes since v1", "### Breaking", "- other names", "### Added", "- Add a door", "- ui: a button",
        "### Fixed", "- a crash", "### Other", "- Something else", "6 commits, 1 left out as internal.",
    ]  # fmt: skip


@pytest.mark.parametrize("args", [["none"], ["--since=--output=x"], ["--since", "nothing"]])
def test_no_repository_or_ref_is_said(args: list[str], tmp_path: Path) -> None:
    commit(tmp_path, "one")
    done = run("git-changelog", "changelog.py", *args, workspace=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("no changelog: ")
    assert not (tmp_path / "x").exists()


def test_markdown_becomes_a_page_that_runs_nothing(tmp_path: Path) -> None:
    text = "# A <b>title</b>\n\n<script>x</script> [a](javascript:x) [b](https://e.example)\n\n|a|b|\n|-|-|\n|1|2|\n"
    (tmp_path / "n.md").write_text(text)
    done = run("markdown-html", "convert.py", "n.md", workspace=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "n.html").read_text()
    assert "<title>A &lt;b&gt;title&lt;/b&gt;</title>" in page
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert '<a href="https://e.example">b</a>' in page
    assert "<td>2</td>" in page


def test_a_page_never_takes_the_place_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "n.html").write_text("# x")
    done = run("markdown-html", "convert.py", "n.html", workspace=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "n.html").read_text() == "# x"


def test_the_wheel_carries_every_file_of_them(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for skill in packaged():
        for file in skill.tree.files():
            assert f"echo_bot/skills/packaged/{skill.name}/{file.path}" in names
