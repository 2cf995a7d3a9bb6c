#!/usr/bin/env bash
# The quick start on a fresh system: installs, builds, packs Fashion-MNIST, serves it from a source that is four
# times too slow, and trains a small model with and without echo.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=0.50
seeds=(1 2 3)
build=
out=
ratio_max=0.40

usage() {
  cat <<'TEXT'
usage: deploy/quickstart.sh [--quick] [--build-dir DIR] [--output DIR]
1. Installs the Debian packages it needs (as root; otherwise it prints the one apt line) and builds Echoline.
2. Packs the 60,000 images of Fashion-MNIST (a Debian package) into shards.
3. Measures how many images a second the example trainer can take when it never waits, and serves the shards from a source
   throttled to a quarter of that: the trainer would wait three quarters of its time.
4. Trains until the test loss is 0.50, three seeds without echo and three with every image used four times,
   each use augmented again. Prints a table and leaves a picture of accuracy over time.
Takes some minutes the first time, less than three after that. Everything is under build/ of the repository.

  --quick          one seed and a target of 0.55
  --build-dir DIR  use the daemon, command line and trainer built there; install and build nothing
  --output DIR     folder for data, results and the picture (build/quickstart-run)
  --help           this text
TEXT
}

while [[ $# -gt 0 ]]; do
  case $1 in
    -h|--help) usage; exit 0 ;;
    --quick) seeds=(1); target=0.55; ratio_max=0.60 ;;
    --build-dir) build=${2:?--build-dir needs a folder}; shift ;;
    --output) out=${2:?--output needs a folder}; shift ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
out=${out:-$root/build/quickstart-run}

say() { printf -- '-- %s\n' "$*"; }
fail() { echo "quickstart: $*" >&2; exit 1; }

install_and_build() {
  "$root/deploy/install-packages.sh" build demo
  build=$root/build/quickstart
  say "building Echoline"
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset quickstart >build/quickstart.log 2>&1) ||
    { cat "$root/build/quickstart.log" >&2; fail "cmake could not configure the build"; }
  cmake --build "$build" --parallel "$(nproc)" --target echolined echoline train_fashion_mnist
}

# The path of a built program.
program() {
  local path
  path=$(find "$build" -type f -name "$1" -perm -u+x -print -quit)
  [[ -n $path ]] || fail "there is no $1 in $build; build it first"
  echo "$path"
}

# Creates the shards with their index, and unpacks the test set, unless they exist.
prepare_data() {
  local source
  source=$(dirname "$(dpkg -L dataset-fashion-mnist | grep '/train-images-idx3-ubyte.gz$')")
  if [[ -f $out/data/complete ]]; then return; fi
  say "packing Fashion-MNIST into shards"
  rm -rf "$out/data"
  mkdir -p "$out/data"
  "$echoline" pack --from idx --output "$out/data" --name train --shard-records 10000 --shuffle \
    "$source/train-images-idx3-ubyte.gz" "$source/train-labels-idx1-ubyte.gz"
  gunzip -c "$source/t10k-images-idx3-ubyte.gz" >"$out/data/test-images"
  gunzip -c "$source/t10k-labels-idx1-ubyte.gz" >"$out/data/test-labels"
  touch "$out/data/complete"
}

# Prints the configuration of one run: `none` (no echo) or `echo`, with a throttle as in ", throttle: ...".
write_config() {
  local kind=$1 seed=$2 throttle=$3 echo_step=
  if [[ $kind != none ]]; then echo_step="      - echo: {factor: 4, window: 10000}"; fi
  cat <<YAML
daemon:
  runtime_dir: $runtime
  state_dir: $runtime/state
  metrics: "off"
  memory: 1GiB
streams:
  train:
    seed: $seed
    pipeline:
      - read: {url: "$out/data/train-*.tar", format: webdataset$throttle}
      - shuffle: {window: 10000}
      - decode: {image: {key: u8, as: uint8, shape: [28, 28, 1]}, label: {key: cls, as: int64}}
$echo_step
      - random_crop: {field: image, size: 28, padding: 3}
      - horizontal_flip: {field: image}
      - cutout: {field: image, size: 8}
      - batch: {size: 128, last: drop}
      - publish: {slots: 16}
YAML
}

daemon=
log=
stop_daemon() {
  if [[ -n $daemon ]]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    daemon=
  fi
}
clean_up() {
  stop_daemon
  rm -rf "$runtime"
}

# Each training gets a new daemon, so that its start is measured and nothing is cached.
# start_daemon NAME KIND SEED THROTTLE
start_daemon() {
  local config=$out/runs/$1.yaml
  log=$out/runs/$1.log
  write_config "$2" "$3" "$4" >"$config"
  "$echolined" --config "$config" 2>"$log" &
  daemon=$!
  wait_until_ready
}

# Measures the images per second that the trainer takes, without its waits, from a daemon with an unthrottled source.
measure_rate() {
  start_daemon rate echo 1 ""
  "$trainer" "${test_set[@]}" --runtime-dir "$runtime" --measure-rate >"$out/runs/rate.txt" ||
    fail "the trainer's rate could not be measured"
  stop_daemon
}

# train_once KIND SEED
train_once() {
  local name=$1-$2 started
  started=$(date +%s.%N)
  start_daemon "$name" "$1" "$2" ", throttle: {rate: $((bytes_per_second / 1000))KB/s}"
  if ! "$trainer" "${test_set[@]}" --runtime-dir "$runtime" --target "$target" --seed "$2" \
    --clock-from "$started" --json --csv "$out/runs/$name.csv" >"$out/runs/$name.json"; then
    tail -n 5 "$log" >&2
    fail "training ($1, seed $2) did not reach the target"
  fi
  "$echoline" show train --json --runtime-dir "$runtime" >"$out/runs/$name.stream"
  stop_daemon
}

wait_until_ready() {
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    if [[ -S $runtime/door.sock ]]; then return; fi
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.02
  done
  cat "$log" >&2
  fail "the daemon did not start"
}

if [[ -z $build ]]; then install_and_build; fi
echolined=$(program echolined)
echoline=$(program echoline)
trainer=$(program train_fashion_mnist)
runtime=$(mktemp -d "${TMPDIR:-/tmp}/echoline-quickstart.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT TERM

prepare_data
test_set=(--test-images "$out/data/test-images" --test-labels "$out/data/test-labels")
rm -rf "$out/runs"
mkdir -p "$out/runs"
measure_rate
images_per_second=$(<"$out/runs/rate.txt")
stored_bytes=$(cat "$out"/data/train-*.tar | wc -c)
bytes_per_second=$((images_per_second * stored_bytes / 60000 / 4))
say "the trainer can take $images_per_second images a second; the source gives a quarter of that," \
  "$((bytes_per_second / 1000000)) MB/s"

for seed in "${seeds[@]}"; do
  say "seed $seed, no echo"
  train_once none "$seed"
  say "seed $seed, echo 4 before augmentation"
  train_once echo "$seed"
done
python3 "$root/deploy/quickstart_report.py" "$out/runs" --target "$target" --svg "$out/accuracy.svg" \
  --ratio-max "$ratio_max"
