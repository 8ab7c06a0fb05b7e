"""What a release carries: a wheel and a source distribution of each project, built once, looked into, installed alone."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, cached_property
from importlib.metadata import PathDistribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [ROOT, *sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))]
PROJECTS: dict[str, dict[str, Any]] = {
    (table := tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"])["name"]: table | {"at": folder}
    for folder in FOLDERS
}
SUITE = "tscg-suite"
PACKAGES = sorted(set(PROJECTS) - {SUITE})

#: What a wheel holds beside Python: each pattern has its files, and no file is without a pattern.
DATA = {
    "tscg": ["demo/schema.sql", "demo/records/*.jsonl", "page/*.html", "page/*.css", "page/*.js"],
    "tscg-bench": ["data/*.json", "data/*.jsonl"],
}
#: What a source distribution holds beside its `src`. The ignore file comes with hatchling.
SOURCES = {".gitignore", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}

#: Requirements with an upper end: frameworks, whose next major is unknown, and what the core shares with them.
CAPS = {
    "tscg": {"pydantic": "<3", "pydantic-monty": "<2", "mcp": "<3"},
    "langchain-tscg": {"langchain-core": "<2", "langchain": "<2"},
    "llama-index-tscg": {"llama-index-core": "<0.15"},
    "crewai-tscg": {"crewai": "<2"},
    "tscg-bench": {},
    SUITE: {},
}
EXTRAS = {
    "tscg": {"code", "mcp", "tokenizers"},
    "langchain-tscg": {"agents"},
    "tscg-bench": {"local", "toon"},
    SUITE: {"langchain", "llamaindex", "crewai", "bench", "all"},
}
#: What a package imports and does not require itself, and the requirement that it comes with.
BROUGHT = {
    "tscg": {"anyio": "mcp", "pydantic_monty": "pydantic-monty"},
    "langchain-tscg": {"langgraph": "langchain", "pydantic": "tscg", "rich": "tscg"},
    "llama-index-tscg": {"pydantic": "tscg", "rich": "tscg", "typing_extensions": "llama-index-core"},
    "crewai-tscg": {"pydantic": "tscg", "rich": "tscg"},
    "tscg-bench": {"anyio": "inspect-ai", "pydantic": "tscg"},
}
PYTHONS = ["3.11", "3.12", "3.13"]
#: Groups of entry points that something reads: the installer, and the command of the core.
GROUPS = {"console_scripts", "tscg.commands", "tscg.demos", "tscg.models"}
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True)
class Release:
    """The two files of one project."""

    name: str
    wheel: Path
    sdist: Path

    @property
    def project(self) -> dict[str, Any]:
        return PROJECTS[self.name]

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def info(self) -> str:
        return f"{self.module}-{self.project['version']}.dist-info"

    @cached_property
    def packed(self) -> dict[str, bytes]:
        """Files of the wheel."""
        with zipfile.ZipFile(self.wheel) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}

    @cached_property
    def sources(self) -> set[str]:
        """Files of the source distribution, below its one folder."""
        with tarfile.open(self.sdist) as sdist:
            parts = [Path(member.name).parts for member in sdist if not member.isdir()]
        assert {top for top, *_ in parts} == {f"{self.module}-{self.project['version']}"}
        return {"/".join(rest) for _, *rest in parts}

    @cached_property
    def metadata(self) -> Metadata:
        return Metadata.from_email(self.packed[f"{self.info}/METADATA"], validate=True)

    @property
    def requires(self) -> list[Requirement]:
        return self.metadata.requires_dist or []


def command(*words: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command. No index is asked: what uv needs is in the environment of the tests or in uv's cache."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables = clean | {"UV_OFFLINE": "1", "PYTHONUTF8": "1"} | environment
    return subprocess.run(words, cwd=cwd, env=variables, capture_output=True, text=True, check=False, timeout=120)


def checked(*words: str | Path, **options: Any) -> str:
    done = command(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of(folder: Path) -> set[str]:
    """Files below a folder, but for what Python caches there."""
    paths = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Release]:
    """Each project as it would be published: the wheel is built from the source distribution."""
    pytest.importorskip("hatchling", reason="the build backend is not installed here")
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed: nothing builds the packages")
    folder = tmp_path_factory.mktemp("dist")
    here = ("--no-build-isolation", "--python", sys.executable)
    checked("uv", "build", "--quiet", "--all-packages", *here, "--out-dir", folder)
    wheels = {parse_wheel_filename(path.name)[0]: path for path in folder.glob("*.whl")}
    sdists = {parse_sdist_filename(path.name)[0]: path for path in folder.glob("*.tar.gz")}
    assert set(wheels) == set(sdists) == set(PROJECTS)
    return {name: Release(name, wheels[canonicalize_name(name)], sdists[canonicalize_name(name)]) for name in PROJECTS}


@pytest.fixture(params=sorted(PROJECTS))
def release(request: pytest.FixtureRequest, releases: dict[str, Release]) -> Release:
    return releases[request.param]


# ---- What the files hold ----


def test_one_wheel_is_for_every_machine(release: Release) -> None:
    _, version, build, tags = parse_wheel_filename(release.wheel.name)
    assert (str(version), build) == (release.project["version"], ())
    assert {str(tag) for tag in tags} == {"py3-none-any"}


def test_a_wheel_holds_its_package_and_nothing_else(release: Release) -> None:
    source = release.project["at"] / "src"
    information = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE"}
    if {"scripts", "entry-points"} & set(release.project):
        information.add("entry_points.txt")
    assert set(release.packed) == files_of(source) | {f"{release.info}/{name}" for name in information}
    assert release.packed[f"{release.info}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("name", PACKAGES)
def test_what_is_no_code_in_a_wheel_is_known_data(name: str, releases: dict[str, Release]) -> None:
    release = releases[name]
    inside = {file.removeprefix(f"{release.module}/") for file in release.packed if not file.startswith(release.info)}
    data = {file for file in inside if not file.endswith(".py")}
    patterns = ["py.typed", *DATA.get(name, [])]
    assert [file for file in data if not any(fnmatch(file, pattern) for pattern in patterns)] == []
    assert [pattern for pattern in patterns if not any(fnmatch(file, pattern) for file in data)] == []
    assert "__init__.py" in inside
    assert [file for file in inside if re.search(r"(^|/)(tests?|conftest|test_[^/]*)(/|\.py$)", file)] == []


def test_a_source_distribution_holds_what_builds_the_wheel(release: Release) -> None:
    wanted = SOURCES | {f"src/{file}" for file in files_of(release.project["at"] / "src")}
    hook = {"hatch_build.py"} if (release.project["at"] / "hatch_build.py").exists() else set()
    assert release.sources == wanted | hook


# ---- What the metadata say ----


def test_metadata_are_valid_and_complete(release: Release) -> None:
    about = release.metadata
    assert about.name == release.name
    assert SEMVER.fullmatch(str(about.version))
    assert about.summary == release.project["description"]
    assert about.license_expression == "Apache-2.0"
    assert about.license_files == ["LICENSE"]
    assert about.keywords


def test_all_files_carry_the_version_of_the_core(releases: dict[str, Release]) -> None:
    import tscg

    assert {str(release.metadata.version) for release in releases.values()} == {tscg.__version__}


def test_the_pythons_of_the_metadata_are_those_that_are_tested(release: Release) -> None:
    taken = release.metadata.requires_python or SpecifierSet()
    assert [version for version in ("3.10", *PYTHONS) if f"{version}.0" in taken] == PYTHONS
    classified = {f"Programming Language :: Python :: {version}" for version in PYTHONS}
    # hatchling refuses a classifier that is not known.
    assert set(release.metadata.classifiers or []) - classified == {
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Typing :: Typed",
    }
    assert classified <= set(release.metadata.classifiers or [])


def test_the_readme_reads_well_apart_from_the_repository(release: Release) -> None:
    text = (release.project["at"] / "README.md").read_text("utf-8")
    assert release.metadata.description == text
    assert release.metadata.description_content_type == "text/markdown"
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    title = tokens[1].content
    assert title == ("tscg" if release.name == SUITE else release.name)
    inline = [part for token in tokens for part in (token, *(token.children or []))]
    # An index shows no HTML of ours but comments, which it drops, and has nothing beside the page.
    html = [part.content for part in inline if part.type in {"html_block", "html_inline"}]
    assert [part for part in html if not part.startswith("<!--")] == []
    links = [str(part.attrs[kind]) for part in inline for kind in ("href", "src") if kind in part.attrs]
    assert release.name == SUITE or [link for link in links if "://" not in link] == []


def test_requirements_have_a_floor_and_only_frameworks_a_cap(release: Release) -> None:
    ours = [item for item in release.requires if canonicalize_name(item.name) in PROJECTS]
    assert {str(item.specifier) for item in ours} <= {f"=={release.project['version']}"}
    others = [item for item in release.requires if item not in ours]
    caps: dict[str, str] = {}
    for item in others:
        operators = {part.operator: str(part) for part in item.specifier}
        assert ">=" in operators, item
        assert set(operators) <= {">=", "<", "!="}, item
        caps |= {item.name: cap} if (cap := operators.get("<")) else {}
    assert caps == CAPS[release.name]


def imports_of(code: bytes) -> Iterator[str]:
    """Top-level modules that a module imports, at its top or in a function."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_requires_what_it_imports(name: str, releases: dict[str, Release]) -> None:
    release, provided = releases[name], packages_distributions()
    code = [data for file, data in release.packed.items() if file.endswith(".py")]
    used = {module for data in code for module in imports_of(data)} - sys.stdlib_module_names - {release.module}
    required = {canonicalize_name(item.name) for item in release.requires}
    # A package that is not installed here, as CrewAI, is named as its module.
    unknown = {module for module in used if required.isdisjoint(map(canonicalize_name, provided.get(module, [module])))}
    assert unknown == set(BROUGHT[name])
    assert set(BROUGHT[name].values()) <= required


def test_extras_are_those_that_the_docs_name(release: Release) -> None:
    assert set(release.metadata.provides_extra or []) == EXTRAS.get(release.name, set())


def test_all_of_the_suite_is_every_package(releases: dict[str, Release]) -> None:
    requires = releases[SUITE].requires
    taken = {item.name for item in requires if item.marker is None or item.marker.evaluate({"extra": "all"})}
    assert taken == set(PACKAGES)


def test_entry_points_lead_to_functions_of_the_wheel(release: Release) -> None:
    with zipfile.ZipFile(release.wheel) as wheel:
        points = PathDistribution(zipfile.Path(wheel, f"{release.info}/")).entry_points
    given = {"console_scripts": release.project.get("scripts", {}), **release.project.get("entry-points", {})}
    assert {(point.group, point.name) for point in points} == {
        (group, name) for group, names in given.items() for name in names
    }
    assert {point.group for point in points} <= GROUPS
    for point in points:
        path = f"{point.module.replace('.', '/')}.py"
        tree = ast.parse(release.packed[path if path in release.packed else f"{path[:-3]}/__init__.py"])
        assert point.attr in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, point


# ---- Installed alone ----

#: Packages installed with all that they require, in the versions of the lock file, and the modules that are missing then:
#: those of an extra. CrewAI is left out for its size.
INSTALLED = {
    "tscg": {"anyio"},
    SUITE: set[str](),
    "langchain-tscg": {"langchain"},
    "llama-index-tscg": set[str](),
}

#: Imports every module of a package; prints where it lies and what is missing.
IMPORT_ALL = """
import importlib, json, pkgutil, sys
package, missing = importlib.import_module(sys.argv[1]), set()
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    try:
        module.name.endswith("__main__") or importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        missing.add(error.name.partition(".")[0])
print(json.dumps([package.__file__, sorted(missing)]))
"""


def locked(*words: str | Path, **environment: str) -> str:
    """What uv prints that goes by the lock file; skips the test where that, or a wheel that it names, is not at hand."""
    done = command("uv", *words, "--quiet", "--frozen", cwd=ROOT, **environment)
    if done.returncode and re.search("network connectivity is disabled|unable to find lockfile", done.stderr, re.I):
        pytest.skip(f"uv has no lock file here, or not all in its cache: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_default_environment_is_without_the_large_frameworks() -> None:
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed: nothing reads the lock file")
    names = set(re.findall(r"^[\w.-]+", locked("export", "--no-hashes", "--no-header", "--no-annotate"), re.MULTILINE))
    assert {"pytest", "langchain-core", "llama-index-core", "mcp"} <= names
    assert names & {"crewai", "inspect-ai", "torch", "transformers"} == set()


class Installation:
    """An environment with one package and what it requires, made of the wheels."""

    def __init__(self, folder: Path, name: str, releases: dict[str, Release]) -> None:
        self.folder = folder
        without = ("--no-dev", "--no-install-workspace", "--python", sys.executable)
        locked("sync", "--package", name, *without, UV_PROJECT_ENVIRONMENT=str(folder))
        ours = {name, *(item.name for item in releases[name].requires if item.marker is None)} & set(releases)
        checked("uv", "pip", "install", "--no-deps", "--python", folder, *(releases[one].wheel for one in sorted(ours)))

    def run(self, program: str, *words: str | Path, **options: Any) -> str:
        """What an installed program prints. It runs outside the repository, so that nothing of it is in the way."""
        return checked(
            self.folder / ("Scripts" if os.name == "nt" else "bin") / program, *words, cwd=self.folder, **options
        )


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, releases: dict[str, Release]) -> Callable[[str], Installation]:
    """The installation of a package, made when it is first asked for."""
    return cache(lambda name: Installation(tmp_path_factory.mktemp("installed") / name, name, releases))


@pytest.mark.parametrize("name", INSTALLED)
def test_a_package_installed_alone_imports_whole(name: str, installed: Callable[[str], Installation]) -> None:
    module = "tscg" if name == SUITE else name.replace("-", "_")
    file, missing = json.loads(installed(name).run("python", "-c", IMPORT_ALL, module))
    assert Path(file).is_relative_to(installed(name).folder)
    assert set(missing) == INSTALLED[name]


def test_the_command_finds_its_data_in_the_wheel(installed: Callable[[str], Installation], tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tool = {"name": "get_issue", "description": "Reads an issue.", "inputSchema": {"type": "object", "properties": {}}}
    tools.write_text(json.dumps([tool]), encoding="utf-8")
    core = installed("tscg")
    assert "\nget_issue() Reads an issue.\n" in core.run("tscg", "compile", tools, "--profile", "lossless")
    core.run("tscg", "report", tools, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "get_issue" in page
    for part in (ROOT / "packages/core/src/tscg/page").glob("*.[cj]s*"):
        assert part.read_text("utf-8").strip().splitlines()[-1] in page
    assert json.loads(core.run("tscg", "lint", tools, "--json")) == {"tools": 1, "findings": []}


def test_the_demo_runs_from_the_wheels(installed: Callable[[str], Installation]) -> None:
    done = json.loads(installed(SUITE).run("tscg", "demo", "--json"))
    assert done["exit_code"] == 0
    assert "43 tools of a real MCP server" in "\n".join(done["shown"])
