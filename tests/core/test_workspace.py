"""The laws of the layout: one place for settings, one version, nothing of a machine, a core that knows no framework."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))
PROJECTS = [ROOT, *PACKAGES]
TEXT = {".py", ".md", ".toml", ".json", ".jsonl", ".txt", ".yml", ".yaml", ".cfg", ".html", ".gbnf", ".sql", ""}

#: Import names of the frameworks: the core may bring none of them.
FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "llama_index", "crewai", "inspect_ai"}
#: What the core uses, each only in the function that first needs it.
LAZY = {
    "asyncio", "httpx", "json_repair", "jsonschema", "jsonschema_rs", "mcp", "numpy", "pydantic", "pydantic_core",
    "rapidfuzz", "regex", "rich", "sqlite3", "tiktoken", "tokenizers", "typer",
}  # fmt: skip


def settings_of(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def files() -> list[Path]:
    """What git tracks or would track; without git, what lies in the folders of the project."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout: what belongs to the project is not known")
    return [path for name in listed if name and (path := ROOT / name).is_file()]


def fresh(code: str) -> str:
    """What a fresh interpreter prints for a program."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_packages_are_all_there() -> None:
    names = {path.name: settings_of(path)["project"]["name"] for path in PACKAGES}
    assert names == {
        "bench": "tscg-bench",
        "core": "tscg",
        "crewai": "crewai-tscg",
        "langchain": "langchain-tscg",
        "llamaindex": "llama-index-tscg",
    }


def test_all_packages_carry_one_version() -> None:
    import tscg

    versions = {path.name: settings_of(path)["project"]["version"] for path in PROJECTS}
    assert set(versions.values()) == {tscg.__version__}, versions


def test_packages_ask_for_each_other_at_that_version() -> None:
    version = settings_of(ROOT)["project"]["version"]
    asked: list[str] = []
    for project in (settings_of(path)["project"] for path in PROJECTS):
        asked += project["dependencies"]
        asked += [item for extra in project.get("optional-dependencies", {}).values() for item in extra]
    ours = [item for item in asked if re.match(r"(\w+-)*tscg(-bench)?(?!-suite)\b", item) and "suite" not in item]
    assert len(ours) >= len(PACKAGES)
    assert [item for item in ours if not item.endswith(f"=={version}")] == []


def test_the_root_installs_the_core_and_offers_each_package() -> None:
    project = settings_of(ROOT)["project"]
    extras = project["optional-dependencies"]
    assert [item.split("==")[0] for item in project["dependencies"]] == ["tscg[code,mcp]"]
    offered = {item.split("==")[0] for name, items in extras.items() if name != "all" for item in items}
    assert offered == {settings_of(path)["project"]["name"] for path in PACKAGES} - {"tscg"}
    assert set(re.findall(r"\w+", extras["all"][0].partition("[")[2])) == set(extras) - {"all"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_tool_settings_are_in_the_root_only(package: Path) -> None:
    assert set(settings_of(package).get("tool", {})) == {"hatch"}
    apart = {"ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", "pytest.ini", "setup.cfg", "tox.ini", "conftest.py"}
    assert [path.name for path in package.rglob("*") if path.name in apart] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_each_package_is_typed_documented_and_licensed(package: Path) -> None:
    (module,) = [path.parent for path in (package / "src").glob("*/__init__.py")]
    assert (module / "py.typed").is_file()
    assert (module / "__init__.py").read_text(encoding="utf-8").startswith('"""')
    assert (package / settings_of(package)["project"]["readme"]).is_file()
    # A copy, since a source distribution can't hold a link that leads out of its folder.
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_no_init_below_tests() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_names_of_test_files_are_unique() -> None:
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_the_lock_file_is_not_tracked() -> None:
    assert "uv.lock" not in {path.name for path in files()}


def test_no_machine_or_registry_is_named() -> None:
    # Put together here, so that this file holds none of them.
    names = ["pypi" + ".org", "python" + "hosted", "npm" + "js.org", "/ro" + "ot/", "/Use" + "rs/"]
    here = [str(path) for path in (ROOT, Path.home(), Path(sys.prefix)) if len(path.parts) > 1]
    forbidden = re.compile("|".join([*map(re.escape, names), *(rf"{re.escape(each)}(?!\w)" for each in here)]))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files()
        if path.suffix in TEXT and path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if forbidden.search(line)
    ]
    assert found == []


def test_importing_the_core_brings_no_framework_and_nothing_heavy() -> None:
    loaded = set(fresh("import sys, tscg; print(*{name.partition('.')[0] for name in sys.modules})").split())
    assert "tscg" in loaded
    assert loaded & (FRAMEWORKS | LAZY) == set()


def test_no_module_of_the_core_names_a_framework() -> None:
    named = re.compile(rf"^\s*(?:import|from)\s+({'|'.join(FRAMEWORKS)})\b", re.MULTILINE)
    modules = sorted((ROOT / "packages/core/src").rglob("*.py"))
    assert modules
    assert [path.name for path in modules if named.search(path.read_text(encoding="utf-8"))] == []


def test_the_wheel_of_the_core_holds_the_whole_package(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the build backend is not installed here")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    folder = ROOT / "packages/core"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("tscg/")}
        entry_points = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        assert "tscg = tscg.cli:main" in wheel.read(entry_points).decode()
    source = folder / "src"
    wanted = {str(path.relative_to(source)) for path in files() if path.is_relative_to(source)}
    assert "tscg/py.typed" in packed
    assert packed == wanted
