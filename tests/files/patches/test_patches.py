"""Both patch forms are read into the same changes and find their place by context."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from echo_bot.files.patches import FileChange, PatchError, apply_hunks, new_text, parse_patch
from echo_bot.tools.builtin.diffs import unified_diff

FILE = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"
UPDATE = "*** Update File: a.py\n"
FIRST = "@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"


def unified(hunks: str, name: str = "a.py") -> str:
    return f"--- a/{name}\n+++ b/{name}\n{hunks}"


def v4a(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


def applied(patch: str, text: str = FILE) -> str:
    (change,) = parse_patch(patch)
    return apply_hunks(text, change.hunks, change.path)


SECOND_CHANGED = FILE[:-2] + "2\n"


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param(unified(FIRST), id="a plain unified diff"),
        pytest.param(f"diff --git a/a.py b/a.py\nindex 1..2 100644\n{unified(FIRST)}", id="as git writes it"),
        pytest.param(f"```diff\n{unified(FIRST)}```\n", id="in a code fence"),
        pytest.param(unified(FIRST.replace("-1,2 +1,2", "-90,7 +91,3")), id="with wrong line numbers"),
        pytest.param(unified(FIRST.replace("@@ -1,2 +1,2 @@", "@@")), id="without line numbers"),
        pytest.param(unified(FIRST).replace("\n", "\r\n"), id="with CRLF ends"),
        pytest.param(unified(FIRST + "\n\n"), id="with blank lines after it"),
        pytest.param(unified(FIRST.replace("f():", "f():  ")), id="with other trailing blanks"),
        pytest.param(v4a(UPDATE + " def f():\n-    return 1\n+    return 2\n"), id="the V4A form"),
        pytest.param(v4a(UPDATE + "@@ def f():\n-    return 1\n+    return 2\n"), id="V4A, anchored"),
        pytest.param(UPDATE + " def f():\n-    return 1\n+    return 2\n", id="V4A without its ends"),
    ],
)  # fmt: skip
def test_the_first_function_is_changed(patch: str) -> None:
    assert applied(patch) == FILE.replace("1", "2", 1)


def test_anchors_and_end_of_file_choose_among_several_places() -> None:
    change = "-    return 1\n+    return 2\n"
    assert applied(v4a(f"*** Update File: a.py\n@@ def g():\n{change}")) == SECOND_CHANGED
    assert applied(v4a(f"*** Update File: a.py\n@@\n{change}*** End of File\n")) == SECOND_CHANGED


def test_a_right_line_number_chooses_among_several_places() -> None:
    assert applied(unified("@@ -6 +6 @@\n-    return 1\n+    return 2\n")) == SECOND_CHANGED


def test_a_hunk_that_fits_in_several_places_is_refused() -> None:
    with pytest.raises(PatchError, match=r"fits in 2 places \(lines 2, 6\)"):
        applied(unified("@@\n-    return 1\n+    return 2\n"))


def test_a_hunk_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(PatchError, match=r"hunk 1 of a\.py does not fit"):
        applied(unified("@@\n-    return 7\n+    return 2\n"))


def test_hunks_are_applied_in_order() -> None:
    second = "@@ -5,2 +5,3 @@\n def g():\n+    print()\n     return 1\n"
    assert applied(unified(FIRST + second)) == FILE.replace("1", "2", 1).replace(
        "g():\n", "g():\n    print()\n"
    )


def test_lines_are_inserted_without_context() -> None:
    assert applied(unified("@@ -3,0 +4 @@\n+# new\n")) == FILE.replace("\n\n\n", "\n\n# new\n\n")
    assert applied(v4a("*** Update File: a.py\n@@ def g():\n+    # new\n")) == FILE.replace(
        "g():\n", "g():\n    # new\n"
    )


def test_lines_that_look_like_a_file_header_are_lines_where_the_counts_want_them() -> None:
    assert applied(unified_diff("-- d\n", "++ e\n", "x"), "-- d\n") == "++ e\n"
    old, new = "-- d\n" + "a\n" * 9 + "b\n", "++ e\n" + "a\n" * 9 + "c\n"
    assert applied(unified_diff(old, new, "x"), old) == new


def test_a_removed_line_that_looks_like_a_header_is_a_line() -> None:
    text = "a\n-- old\nb\n"
    assert applied(unified("@@ -1,3 +1,2 @@\n a\n--- old\n b\n"), text) == "a\nb\n"


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [("a", "b", "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
     ("a", "b\n", "-a\n\\ No newline at end of file\n+b\n"),
     ("a\n", "b", "-a\n+b\n\\ No newline at end of file\n")],
)  # fmt: skip
def test_a_missing_final_newline_is_kept_added_or_dropped(before: str, after: str, marks: str) -> None:
    assert applied(unified(f"@@ -1 +1 @@\n{marks}"), before) == after


def test_files_are_added_deleted_and_moved() -> None:
    changes = parse_patch(
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
        "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    )
    assert [(c.kind, c.path, c.new_path) for c in changes] == [
        ("add", "new.txt", ""),
        ("delete", "old.txt", ""),
        ("update", "x", "y"),
    ]
    assert new_text(changes[0].hunks) == "hello\n"


def test_the_v4a_form_adds_deletes_and_moves() -> None:
    changes = parse_patch(
        v4a(
            "*** Add File: new.txt\n+hello\n+\n*** Delete File: old.txt\n"
            "*** Update File: x\n*** Move to: y\n@@\n-a\n+b\n"
        )
    )
    assert [(c.kind, c.path, c.new_path) for c in changes] == [
        ("add", "new.txt", ""),
        ("delete", "old.txt", ""),
        ("update", "x", "y"),
    ]
    assert new_text(changes[0].hunks) == "hello\n\n"


def test_a_bare_hunk_uses_the_path() -> None:
    assert parse_patch(FIRST, "a.py")[0].path == "a.py"


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- a/x y.py\t2024-01-01\n+++ b/x y.py\t2024-01-01\n", "x y.py"),
        ('--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n', "café.py"),
        ("--- src/x.py\n+++ src/x.py\n", "src/x.py"),
        ("--- a/x.py\n+++ a/x.py\n", "a/x.py"),
    ],
)
def test_file_names_are_read_as_diff_writes_them(header: str, path: str) -> None:
    assert parse_patch(header + FIRST)[0].path == path


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("", "changes no file"),
        ("hello", "changes no file"),
        (FIRST, "without --- and \\+\\+\\+ lines"),
        (unified(""), "has no hunk"),
        (unified(FIRST) + unified(FIRST), "twice"),
        (v4a("*** Update File: a.py\n"), "has no hunk"),
        (v4a("*** Add File: a.py\nhello\n"), "must start with \\+"),
        (v4a("hello\n"), "expected"),
        (unified("@@ -1 +1 @@\nhello\n"), "must start with a blank"),
        ("Binary files a/x and b/x differ\n", "binary"),
    ],
)
def test_what_cannot_be_read_says_why(patch: str, reason: str) -> None:
    with pytest.raises(PatchError, match=reason):
        parse_patch(patch)


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-- d", "++ e", "@@ f", "\\ g", "é"]), max_size=12)
TEXTS = st.tuples(LINES, st.booleans()).map(
    lambda pair: "\n".join(pair[0]) + "\n" * (pair[1] and bool(pair[0]))
)


@given(TEXTS, TEXTS)
def test_a_diff_of_ours_applied_to_the_old_text_gives_the_new(old: str, new: str) -> None:
    diff = unified_diff(old, new, "x")
    assert (applied(diff, old) if diff else old) == new


@given(st.text(max_size=300), st.text(max_size=10))
def test_parsing_either_succeeds_or_says_why(patch: str, path: str) -> None:
    try:
        assert all(isinstance(change, FileChange) for change in parse_patch(patch, path))
    except PatchError as error:
        event(str(error)[:20])


PIECES = st.sampled_from(
    [
        *("*** Begin Patch", "*** Update File: a", "*** End Patch", "*** End of File", "@@ x"),
        *("+y", "-z", " w", "--- a/a", "+++ b/a", "@@ -1 +1 @@", "\\ No"),
    ]
)


@given(st.lists(PIECES, max_size=14), TEXTS)
def test_no_patch_made_of_real_pieces_breaks_the_applying(lines: list[str], text: str) -> None:
    try:
        for change in parse_patch("\n".join(lines)):
            apply_hunks(text, change.hunks, change.path)
    except PatchError as error:
        event(str(error)[:20])
