#!/usr/bin/env bash
# Makes one folder with all that run.sh needs on a machine with a GPU's driver and nothing to install.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

usage() {
  cat <<'TEXT'
usage: tests/bench/gpu/pack.sh FOLDER [--build BUILD-FOLDER] [--numpy PYTHON-VERSION]
Copies into FOLDER, which must be empty or absent, from the build in build/release: the daemon and the command
line with the shared libraries that they are linked with, libecholine, the Python package, and the tests and
measuring programs of the GPU. Left out is the C library: that of the other machine must be as new as this one's.
There, as in FOLDER: ./run.sh
--numpy 3.12 adds NumPy, which the Python package needs, for a machine whose Python 3.12 has none (by pip).
TEXT
}

folder=
build=$root/build/release
numpy=
while [[ $# -gt 0 ]]; do
  case $1 in
    -h|--help) usage; exit 0 ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    --numpy) numpy=${2:?--numpy needs a version of Python}; shift ;;
    -*) usage >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
if [[ -z $folder ]]; then usage >&2; exit 2; fi
if [[ -d $folder && -n $(ls -A "$folder") ]]; then
  echo "pack.sh: $folder is not empty" >&2
  exit 1
fi

programs=(daemon/echolined daemon/echoline tests/cuda/cuda_test tests/client/ring_server tests/bench/gpu/kernel_bandwidth
  tests/bench/gpu/copy_rate tests/bench/gpu/loader_rate)
python=client/python/_echoline.abi3.so
for file in "${programs[@]}" "$python" client/libecholine.so; do
  if [[ ! -e $build/$file ]]; then
    echo "pack.sh: no $build/$file; build it first: cmake --preset release && cmake --build --preset release" >&2
    exit 1
  fi
done

# The linked libraries, except those of the C library and the dynamic loader, which belong to the machine.
libraries() {
  ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|BrokenLocale|c_malloc_debug|nss_[a-z]*))\.so[^/]*$'
}

# Each program is in libexec/. A script of its name in bin/ starts it with these libraries; no other process sees them.
mkdir -p "$folder"/{bin,libexec,lib,cxx,python/echoline}
cd "$build"
install --strip "${programs[@]}" "$folder/libexec"
mapfile -t needed < <(libraries "${programs[@]}" "$python")
cp --dereference "${needed[@]}" "$folder/lib"  # libecholine among them: the command line is linked with it
cat >"$folder/libexec/start" <<'START'
#!/bin/sh
# Starts the program of this script's name with the packed libraries.
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/$(basename "$0")" "$@"
START
chmod +x "$folder/libexec/start"
for program in "${programs[@]}"; do ln -s ../libexec/start "$folder/bin/$(basename "$program")"; done
# For a machine without them. If the machine has them, its own may be newer, and others need those.
cp "$folder"/lib/lib{stdc++,gcc_s}.so* "$folder/cxx"
cp -r "$root"/client/python/echoline/{*.py,steps} "$folder/python/echoline"
install --strip "$python" "$folder/python/echoline"
if [[ -n $numpy ]]; then
  python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" --python-version "$numpy" \
    --only-binary=:all: numpy
fi
for file in bench/gpu/torch_test.py bench/gpu/dataloader_rate.py bench/handoff_loops.py \
  bench/suite/{__init__,rounds}.py process/support/{__init__,batches,daemon_process,programs}.py python/ring_server.py; do
  install -D --mode=644 "$root/tests/$file" "$folder/tests/$file"
done
cp "$root/tests/bench/gpu/run.sh" "$folder"
git -C "$root" describe --always --dirty >"$folder/version.txt" 2>/dev/null || echo unknown >"$folder/version.txt"
du -sh "$folder" | awk '{print $1 " in " $2}'
