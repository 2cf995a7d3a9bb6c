#!/usr/bin/env bash
# Installs the packages of the given sections of packages.txt. Returns quickly if all are installed;
# without root it prints the apt command that is needed, and fails.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/packages.txt
sections=$(awk '!/^#/ && NF {print $1}' "$list" | sort -u | tr '\n' ' ')

usage() {
  cat <<TEXT
usage: deploy/install-packages.sh [--list] SECTION...
Installs the Debian or Ubuntu packages of the sections (of: $sections) that are not installed yet.
  --list   print the missing packages and install nothing
TEXT
}

# Each line of the given sections, as "name" or "name|other name".
wanted() {
  local section
  for section in "$@"; do
    if [[ " $sections " != *" $section "* ]]; then
      echo "install-packages.sh: no section '$section' in packages.txt; there are: $sections" >&2
      exit 2
    fi
    awk -v section="$section" '$1 == section {print $2}' "$list"
  done
}

# For each line without an installed name: the first name that apt knows, else the first; none if the last one is "-".
missing() {
  local installed line name choice
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk '$1 == "installed" {print $2}')
  while read -r line; do
    choice=
    for name in ${line//|/ }; do
      if grep -qxF -- "$name" <<<"$installed"; then continue 2; fi
      if [[ -z $choice ]] && apt-cache show "$name" >/dev/null 2>&1; then choice=$name; fi
    done
    if [[ -z $choice && $line == *'|-' ]]; then continue; fi
    echo "${choice:-${line%%|*}}"
  done
}

only_list=
case ${1:-} in
  -h|--help) usage; exit 0 ;;
  --list) only_list=yes; shift ;;
esac
if [[ $# -eq 0 ]]; then usage >&2; exit 2; fi
if ! command -v dpkg-query >/dev/null; then
  echo "install-packages.sh: this is neither Debian nor Ubuntu; install what $list names by hand" >&2
  exit 1
fi

lines=$(wanted "$@")
packages=$(missing <<<"$lines")
if [[ -n $only_list ]]; then echo "$packages"; exit 0; fi
if [[ -z $packages ]]; then exit 0; fi
if [[ $(id -u) -ne 0 ]]; then
  {
    echo "Packages are missing. Install them with this line, then run the command again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends" $packages
  } >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -o DPkg::Lock::Timeout=600 -qq -y)
echo "installing:" $packages
"${apt[@]}" update
packages=$(missing <<<"$lines")  # the names are known only after the update in a fresh system
"${apt[@]}" install --no-install-recommends $packages >/dev/null
