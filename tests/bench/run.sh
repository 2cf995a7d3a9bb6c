#!/usr/bin/env bash
# Compares Echoline with other loaders; one table and one picture for each benchmark. See --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=/usr/bin/python3  # the one that has Debian's numpy, Pillow and torch
if ! "$python" -c 'import numpy, PIL' 2>/dev/null; then
  echo "run.sh: numpy and Pillow are missing; install them with deploy/install-packages.sh build test" >&2
  exit 1
fi
PYTHONPATH=$here exec "$python" -B -m suite.main "$@"
