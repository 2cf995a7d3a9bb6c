#!/usr/bin/env bash
# Runs the tests of the install paths: packages, containers, services. They need root, several minutes and
# more tools than other tests, so ctest does not run them.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<TEXT
usage: tests/deploy/run.sh [--list] [NAME...]
Runs tests/deploy/NAME_test.sh or .py for each NAME, or all of them, and prints each result. A test
that lacks a tool or a build says what it needs, and counts as failed.

  --list   print the names
TEXT
}

names() { find "$here" -maxdepth 1 -name '*_test.*' -perm -u+x -printf '%f\n' | sed 's/_test\..*//' | sort; }

case ${1:-} in
  -h|--help) usage; exit 0 ;;
  --list) names; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
if [[ $# -eq 0 ]]; then mapfile -t wanted < <(names); else wanted=("$@"); fi

mkdir -p "$root/build/deploy"
failed=()
for name in "${wanted[@]}"; do
  test=$(find "$here" -maxdepth 1 -name "${name}_test.*" -perm -u+x -print -quit)
  if [[ -z $test ]]; then
    echo "run.sh: there is no test '$name'; there are: $(names | tr '\n' ' ')" >&2
    exit 2
  fi
  log=$root/build/deploy/$name.log
  begin=$SECONDS
  echo "== $name"
  if (cd "$root" && "$test") 2>&1 | tee "$log"; then
    echo "ok      $name ($((SECONDS - begin)) s)"
  else
    echo "failed  $name ($((SECONDS - begin)) s): $log"
    failed+=("$name")
  fi
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
