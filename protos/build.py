"""Write the Python stubs of every .proto beside the code that uses them: ``python protos/build.py``."""

from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build_stubs() -> None:
    """Run protoc over protos/; the path of a .proto is the path of its stubs."""
    from grpc_tools import protoc  # noqa: PLC0415 - a build tool, absent where stubs are built already

    sources = sorted((ROOT / "protos").rglob("*.proto"))
    arguments = [
        "protoc",
        f"-I{ROOT / 'protos'}",
        f"-I{files('grpc_tools') / '_proto'}",
        f"--python_out={ROOT}",
        f"--pyi_out={ROOT}",
        f"--grpc_python_out={ROOT}",
        *map(str, sources),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed")


if __name__ == "__main__":
    build_stubs()
