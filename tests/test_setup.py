"""The set-up keeps its word: one set of versions, commands that exist, nothing of one machine.

It leaves out the installation itself, which every `make test` on a new machine is.
"""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
CONDA = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}  # conda-forge's names
SYSTEMS = {  # what a requirement's marker may ask
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
    "macos": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
}
# No file needs a web address but the licence (and an image, the name of its format): packages come
# from wherever the reader's tools look.
ADDRESS = re.compile(r"https?://(?!creativecommons\.org/|www\.w3\.org/2000/svg|127\.0\.0\.1|localhost)[\w.]+\.[a-z]+")
MACHINE = re.compile(r"(?<![\w.:/~<])/(?:home|root|Users|mnt|opt|srv|tmp|var)/\w|[A-Z]:\\Users\\")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pins():
    """{package: version} of the lock."""
    found = re.findall(r"^([\w.-]+)==(\S+)", text("constraints.txt"), re.M)
    assert len(found) > 100
    return {canonicalize_name(name): version for name, version in found}


def wanted():
    """The requirements of the package and of all its extras."""
    project = tomllib.loads(text("pyproject.toml"))["project"]
    return list(map(Requirement, sum(
        project["optional-dependencies"].values(), project["dependencies"])))


def git(*options):
    """Paths that `git ls-files` lists, or None where there is no repository."""
    done = subprocess.run(["git", "ls-files", "-z", *options], cwd=ROOT, capture_output=True)
    if done.returncode or not (ROOT / ".git").exists():
        return None
    return set(filter(None, done.stdout.decode().split("\0")))


def own_files():
    """Paths of the project's own files: those that git has or would add, or all outside .venv."""
    listed = git("--cached", "--others", "--exclude-standard")
    if listed is not None:
        return sorted(ROOT / name for name in listed - git("--cached", "--ignored",
                                                           "--exclude-standard"))
    skip = {".venv", "my", "_site", "build", "__pycache__", ".ipynb_checkpoints"}
    return [p for p in sorted(ROOT.rglob("*")) if not skip & set(p.relative_to(ROOT).parts)]


def test_the_lock_keeps_to_the_ranges():
    for requirement in wanted():
        assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("python", ["3.11", "3.13"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_is_whole(system, python):
    """Walks what is installed here with the markers of another system, as far as it can see."""
    asked = {**SYSTEMS[system], "python_version": python, "python_full_version": python + ".9"}
    todo, seen = wanted(), set()
    while todo:
        requirement = todo.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            further = map(Requirement, metadata.requires(requirement.name) or [])
        except metadata.PackageNotFoundError:
            continue
        todo += [r for r in further if r.marker is None or any(
            r.marker.evaluate({**asked, "extra": e}) for e in ("", *requirement.extras))]
    assert {name for name, _ in seen} - set(pins()) == set()


def test_environment_yml_has_the_versions_of_the_lock():
    listed = re.findall(r"^\s+- ([\w-]+)==?([\w.]+)\s*$", text("environment.yml"), re.M)
    listed = {CONDA.get(name, name): version for name, version in listed if name != "python"}
    assert set(listed) >= {canonicalize_name(r.name) for r in wanted()}
    assert listed == {name: pins()[canonicalize_name(name)] for name in listed}


def test_conda_python_is_one_we_support():
    version, = re.findall(r"- python=(\S+)", text("environment.yml"))
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert Version(version) in Requirement("python" + project["requires-python"]).specifier
    assert f'"{version}"' in text(".github/workflows/test.yml")


def test_every_make_command_of_the_readme_exists():
    targets = set(re.findall(r"^([a-z][a-z-]*):", text("Makefile"), re.M))
    named = set(re.findall(r"(?:`|^\s*|> )make ([a-z][a-z-]*)", text("README.md"), re.M))
    assert {"lab", "test"} <= named, "README names neither `make lab` nor `make test`"
    assert named <= targets


def test_ci_runs_the_command_of_the_readme():
    assert re.search(r"^exec make test$", text(".ci/run"), re.M)
    assert "bash .ci/run" in text(".github/workflows/test.yml")


def test_jupyter_keeps_its_token_and_its_loopback():
    assert not re.search(r"token|password|--ip|ServerApp|xsrf", text("Makefile"))


def test_no_web_address_and_no_path_of_one_machine():
    files, found = own_files(), []
    assert len(files) > 20
    here = re.compile(re.escape(str(ROOT)) + r"(?![\w-])")
    for path in filter(Path.is_file, files):
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for n, line in enumerate(data.decode("utf-8").splitlines(), 1):
            if hit := ADDRESS.search(line) or MACHINE.search(line) or here.search(line):
                found.append(f"{path.relative_to(ROOT)}:{n}: {hit[0]}")
    assert not found, "\n".join(found)


def test_git_tracks_nothing_that_it_should_ignore():
    tracked = git("--cached", "--ignored", "--exclude-standard")
    if tracked is None:
        pytest.skip("not a git repository")
    assert not tracked, f"{len(tracked)} ignored files are tracked, such as {min(tracked)}"


def test_blocked_packages_look_as_if_not_installed():
    code = ("import importlib.util as u, numpy\n"
            "print(u.find_spec('torch'), u.find_spec('numba'), u.find_spec('numpy') is None)\n"
            "try:\n    import torch.nn\nexcept ModuleNotFoundError as err:\n    print(err.name)")
    env = dict(os.environ, PYTHONPATH=str(ROOT / "tests" / "blocked"))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["None", "None", "False", "torch"], done.stderr
