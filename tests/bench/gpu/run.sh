#!/usr/bin/env bash
# Runs the tests of the GPU on this machine's driver, then the measurements, from a folder that pack.sh made.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
no_gpu=77

usage() {
  cat <<'TEXT'
usage: ./run.sh [LOG-FOLDER]
Runs the tests on the CUDA driver of this machine, those of the kernels under compute-sanitizer too where it is
found, then the measurements, which it prints, and at last a table of what passed. What each step says is kept in
LOG-FOLDER (logs next to this script). Needs the driver, Python 3.9 or later, and a GNU C library as new as that of
the machine where the folder was made; nothing is installed. ECHOLINE_GPU_ROWS=N measures kernels and batches of N
photos instead of 256, which take 1.2 GB of the GPU's memory; ECHOLINE_GPU_ROUNDS=N so many rounds of the loader
instead of 11.
Code 0: all passed; 1: a step failed; 77: there is no driver, or no GPU that it can use, and nothing was tested.
TEXT
}

if [[ ${1:-} == -h || ${1:-} == --help ]]; then usage; exit 0; fi
logs=${1:-$here/logs}
mkdir -p "$logs" || exit 1
cd "$here" || exit 1

export PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1 ECHOLINE_RING_SERVER=$here/bin/ring_server ECHOLINED=$here/bin/echolined
python=(env)
if ! python3 -c 'import ctypes; ctypes.CDLL("libstdc++.so.6")' 2>/dev/null; then
  python=(env "LD_LIBRARY_PATH=$here/cxx${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
fi
python+=(python3)

failed=0
table=()

# step NAME COMMAND...: the output goes to the log; that of `measure` also to the screen.
step() {
  local name=$1 begin=$SECONDS code=0 result=passed
  shift
  echo "-- $name"
  timeout 900 "$@" >"$logs/$name.log" 2>&1 || code=$?
  if [[ $code != 0 ]]; then
    result="failed, code $code"
    failed=1
    tail -n 25 "$logs/$name.log"
  fi
  table+=("$(printf '%-28s %-20s %5d s' "$name" "$result" $((SECONDS - begin)))")
  return $code
}

# not_here STEP WHY: lists the step in the table as left out; no failure.
not_here() {
  table+=("$(printf '%-28s %s' "$1" "$2")")
}

measure() {
  step "$@" && cat "$logs/$1.log"
}

sanitizer() {
  PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer
}

echo "Echoline $(cat version.txt) on $(uname -m), $(nproc) processors"
nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.width.max --format=csv 2>/dev/null

bin/copy_rate --rounds 1 --copies 1 >"$logs/probe.log" 2>&1
case $? in
  0) ;;
  "$no_gpu") cat "$logs/probe.log"; echo "nothing was tested"; exit $no_gpu ;;
  *) cat "$logs/probe.log"; exit 1 ;;
esac

step daemon_starts bin/echolined --version
if "${python[@]}" -c 'import numpy' 2>/dev/null; then
  step python_imports "${python[@]}" -c 'import echoline; print(echoline.__version__)'
else
  not_here python_imports 'no NumPy on this machine (pack.sh --numpy brings it)'
fi
step cuda_test bin/cuda_test
with_torch=no
if "${python[@]}" -c 'import numpy, torch; assert torch.cuda.is_available()' 2>/dev/null; then with_torch=yes; fi
if [[ $with_torch == yes ]]; then
  step torch_test "${python[@]}" tests/bench/gpu/torch_test.py
else
  not_here torch_test 'no PyTorch with a GPU on this machine'
fi
found=$(sanitizer)
if [[ -n $found ]]; then
  for tool in memcheck racecheck initcheck; do
    step "kernels_under_$tool" env LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
      "$found" --tool "$tool" --error-exitcode 1 libexec/cuda_test --gtest_filter='*Driver'
  done
else
  not_here compute-sanitizer 'not on this machine'
fi
rows=${ECHOLINE_GPU_ROWS:-256}
measure kernel_bandwidth bin/kernel_bandwidth --rows "$rows"
measure copy_rate bin/copy_rate
measure loader_rate bin/loader_rate --rows "$rows" --rounds "${ECHOLINE_GPU_ROUNDS:-11}" --staged 1
if [[ $with_torch == yes ]]; then
  measure dataloader_rate "${python[@]}" tests/bench/gpu/dataloader_rate.py --rows "$rows"
else
  not_here dataloader_rate 'no PyTorch with a GPU on this machine'
fi

printf '%s\n' '' "${table[@]}"
exit $failed
