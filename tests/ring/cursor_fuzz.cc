// Any content of a reader's cursor page: released() stays at most published() and never decreases,
// a second, correct reader is not affected, and every wait ends by its deadline.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "ring/ring.h"

namespace {

using echoline::ring::Ring;
using echoline::ring::RingSpec;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Bench {
  std::unique_ptr<Ring> ring;
  Ring::Reader honest;
  Ring::Reader hostile;
  std::byte* page = nullptr;
};

Bench make_bench() {
  RingSpec spec;
  spec.batch_rows = 2;
  Bench bench;
  bench.ring = std::move(Ring::create(spec)).value();
  for (int i = 0; i < 5; ++i) bench.ring->publish({});
  bench.honest = bench.ring->add_reader(0).value();
  bench.hostile = bench.ring->add_reader(0).value();
  bench.page = static_cast<std::byte*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, bench.hostile.cursor_fd, 0));
  require(bench.page != MAP_FAILED);
  return bench;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bench bench = make_bench();
  std::uint64_t before = 0;
  // Each 9 bytes are the index of a word (of 48) and its value.
  for (std::size_t at = 0; at + 9 <= size; at += 9) {
    std::memcpy(bench.page + data[at] % 48 * 8, data + at + 1, 8);
    const std::uint64_t released = bench.ring->released();
    require(released >= before && released == 0);  // the correct reader has released nothing
    before = released;
    const echoline::ring::ReaderView view = bench.ring->view(bench.hostile.id);
    require(view.released <= bench.ring->published());
    require(!bench.ring->view(bench.honest.id).misbehaved);
    require(!bench.ring->wait_released(1, echoline::monotonic_ns()));
  }
  bench.ring->remove_reader(bench.hostile.id);
  require(bench.ring->released() == 0);
  munmap(bench.page, 4096);
  return 0;
}
