"""What a release needs: the version and the address in one place, and the part of the changelog that belongs to it.

    python tools/release.py check [TAG]          is everything ready to be published, and is it this tag's version?
    python tools/release.py address URL          set the address of the project (once, by whoever publishes it)
    python tools/release.py version 0.3.0        set the version, and give it the lines of the changelog's `Unreleased`
    python tools/release.py notes [VERSION]      print the changelog of a version, the current one unless given
    python tools/release.py readme               make the links of README.md whole, for pages elsewhere

The last is for the builds of the package: a registry shows the README without the files beside it. It is not committed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A name that no server has (RFC 2606).
PLACEHOLDER = "example.invalid"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def package(root: Path = ROOT) -> dict[str, str]:
    return tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]


def notes(version: str, root: Path = ROOT) -> str:
    """Return the changelog of a version, without its heading; empty where there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
    return found[1].strip() if found else ""


def problems(tag: str | None, root: Path = ROOT) -> list[str]:
    """Return what stands in the way of a release, each with what to do about it."""
    version, address = package(root)["version"], package(root)["repository"]
    found = []
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, but Cargo.toml has version {version}: tag v{version}, or set the version")
    workspace = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    if workspace["dependencies"]["mercer"]["version"] != version:
        found.append(f"the dependency on mercer in Cargo.toml is not {version}: `tools/release.py version {version}`")
    if not notes(version, root):
        found.append(f"CHANGELOG.md has no lines under `## {version}`: `tools/release.py version {version}`")
    if PLACEHOLDER in address:
        found.append("the address in Cargo.toml is a placeholder: `tools/release.py address URL`")
    return found


def set_address(address: str, root: Path = ROOT) -> None:
    if not re.fullmatch(r"https://[^\s\"]+[^\s\"/]", address):
        sys.exit(f"{address} is no address: it must begin with https:// and not end in /")
    replace(root / "Cargo.toml", r'^repository = ".*"$', f'repository = "{address}"')


def set_version(version: str, root: Path = ROOT) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{version} is no version: it must be three numbers, such as 0.3.0")
    replace(root / "Cargo.toml", r'^version = ".*"$', f'version = "{version}"')
    replace(root / "Cargo.toml", r'(?<=path = "crates/mercer", version = )".*"', f'"{version}"')
    if not notes(version, root):
        replace(root / "CHANGELOG.md", r"^## Unreleased$", f"## Unreleased\n\n## {version}")


def set_readme(root: Path = ROOT) -> None:
    """Replace the relative links of the README by addresses in the repository, at the version's tag."""
    base, version = package(root)["repository"], package(root)["version"]

    def whole(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        return f"{picture}[{words}]({base}/{'raw' if picture else 'blob'}/v{version}/{target})"

    page = root / "README.md"
    text = LINK.sub(whole, page.read_text(encoding="utf-8"))
    text = re.sub(r'(src|srcset)="(?!https?://)', rf'\1="{base}/raw/v{version}/', text)
    page.write_text(text, encoding="utf-8")


def replace(path: Path, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, lambda _: by, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"{path.name} has {count} places like {pattern}, but there must be one")
    path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> None:
    match arguments:
        case ["check", *tag] if len(tag) < 2:
            if found := problems(tag[0] if tag else None):
                sys.exit("\n".join(found))
            print(f"{package()['version']} can be published")
        case ["address", address]:
            set_address(address)
        case ["version", version]:
            set_version(version)
        case ["notes", *version] if len(version) < 2:
            wanted = version[0] if version else package()["version"]
            print(notes(wanted) or sys.exit(f"CHANGELOG.md has no lines under `## {wanted}`"))
        case ["readme"]:
            set_readme()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
