"""The Debian package of a probe: built, checked by lintian, installed and purged on a copy of a machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shared

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
# All is below /opt on purpose, made of the packages that the lock names; and not everybody may read settings.
WANTED = (
    "copyright-without-copyright-notice", "dir-or-file-in-opt", "embedded-library",
    "maintainer-script-calls-systemctl", "non-standard-file-perm", "package-installs-python-pycache-dir",
    "unstripped-binary-or-object", "unusual-interpreter",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.races,
    pytest.mark.shares_setup,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        shutil.which("dpkg-deb") is None or not Path("/usr/lib/python3/dist-packages").is_dir()
        or not list(Path("/usr/lib").glob("python3.*/ensurepip/__main__.py")),
        reason="needs Debian's python3-venv and dpkg-deb",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, of a wheel of this tree."""
    folder = tmp_path_factory.mktemp("deb")
    clone = folder / "clone"
    left_out = shutil.ignore_patterns(".*", "var", "build", "*.egg-info", "*_pb2*", "__pycache__", "tests")
    shutil.copytree(ROOT, clone, ignore=left_out)
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=clone, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    done = subprocess.run(
        [clone / "deploy" / "deb.sh", "probe", wheel, folder / "out"],
        env=os.environ | {"SOURCE_DATE_EPOCH": "1764000000"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def shown(package: Path, *query: str) -> str:
    return subprocess.run(["dpkg-deb", *query, package], capture_output=True, text=True, check=True).stdout


def test_it_holds_a_probe_and_nothing_of_a_collector(package: Path) -> None:
    fields = dict(line.split(": ", 1) for line in shown(package, "--field").splitlines() if ": " in line)
    files = {line.split()[-1]: line.split()[:2] for line in shown(package, "--contents").splitlines()}

    assert (fields["Package"], fields["Version"]) == ("tocsin-probe", shared.__version__)
    assert "python3 (>= 3." in fields["Depends"]
    assert "./opt/tocsin/probe/bin/tocsin" in files
    assert "./lib/systemd/system/tocsin-probe.service" in files
    assert files["./etc/tocsin/probe.env"] == ["-rw-r-----", "root/root"]
    assert not [name for name in files if "/site-packages/collector/" in name or "/asyncpg/" in name]
    assert package.stat().st_size < 30_000_000


@pytest.mark.skipif(shutil.which("lintian") is None, reason="needs lintian")
def test_lintian_finds_nothing_else(package: Path) -> None:
    command = ["lintian", "--fail-on", "error,warning", "--suppress-tags", ",".join(WANTED)]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    done = subprocess.run([*command, package], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_it_is_installed_and_purged(package: Path, tmp_path: Path) -> None:
    """On this machine's files, with what is written kept in memory."""
    script = f"""
        set -e
        mount -t tmpfs tmpfs {tmp_path}
        cd {tmp_path}
        mkdir up work root
        mount -t overlay overlay -o lowerdir=/,upperdir=$PWD/up,workdir=$PWD/work root
        cp {package} root/package.deb
        mount -t proc proc root/proc
        mount --bind /dev root/dev
        exec chroot root sh -ec '
            dpkg --install --force-depends /package.deb >/dev/null
            /opt/tocsin/probe/bin/tocsin --version
            stat -c "%U %G %a" /etc/tocsin/probe.env
            getent passwd tocsin | cut -d: -f1
            as_user="setpriv --reuid=tocsin --regid=tocsin --clear-groups"
            $as_user /opt/tocsin/probe/bin/tocsin probe || echo status $?
            dpkg --purge --force-depends tocsin-probe >/dev/null
            ls -d /opt/tocsin/probe /etc/tocsin/probe.env /lib/systemd/system/tocsin-* || echo gone
        '
    """
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        f"tocsin {shared.__version__}",
        "root tocsin 640",
        "tocsin",
        "status 2",  # it has no join token
        "gone",
    ]
    assert "TOCSIN_JOIN_TOKEN" in done.stderr
