"""What the web channel's package holds: the page's own files, what it brings along, the manifest."""

from __future__ import annotations

from channels.web import MANIFEST
from channels.web.routes import PAGE_FOLDER


def test_the_page_loads_nothing_from_elsewhere() -> None:
    own = [
        path
        for path in PAGE_FOLDER.rglob("*")
        if path.suffix in (".html", ".js", ".css") and "vendor" not in path.parts
    ]
    assert len(own) > 10
    for path in own:
        outside = [line for line in path.read_text().splitlines() if "//" in line and 'src="http' in line]
        assert outside == [], path
        assert "innerHTML" not in path.read_text(), path


def test_every_vendored_script_has_its_licence() -> None:
    vendor = PAGE_FOLDER / "vendor"
    assert {path.name for path in vendor.glob("*.js")} == {
        "htm-preact.module.js",
        "marked.esm.js",
        "purify.min.js",
    }
    for name in ("htm", "preact", "marked", "dompurify"):
        assert len((vendor / f"LICENSE-{name}").read_text()) > 500


def test_the_manifest_builds_this_channel() -> None:
    assert (MANIFEST.name, MANIFEST.build) == ("web", "channels.web.adapter:build")
    assert MANIFEST.authenticates_sender
