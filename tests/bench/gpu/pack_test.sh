#!/usr/bin/env bash
# The folder that pack.sh makes is complete: with the fake driver all steps pass, without a device it says so.
# pack_test.sh BUILD-FOLDER FAKE-DRIVER-FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
fake_driver=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() {
  env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$fake_driver" FAKE_CUDA_DELAY_US=0-1 ECHOLINE_GPU_ROWS=1 ECHOLINE_GPU_ROUNDS=1 "$@" "$folder/pack/run.sh" "$folder/logs"
}

"$here/pack.sh" "$folder/pack" --build "$build"
run
for log in daemon_starts cuda_test kernel_bandwidth copy_rate loader_rate; do
  [[ -s $folder/logs/$log.log ]] || { echo "no log of $log"; exit 1; }
done
# Not a rate, so it also holds with the fake driver.
grep -q 'device echo by 4, uses of a copied byte *4\.0000 ' "$folder/logs/loader_rate.log" ||
  { echo "device echo by 4 does not give 4 uses of a copied byte"; cat "$folder/logs/loader_rate.log"; exit 1; }

code=0
run FAKE_CUDA_DEVICES=0 || code=$?
[[ $code == 77 ]] || { echo "without a device run.sh ended with $code, not 77"; exit 1; }
