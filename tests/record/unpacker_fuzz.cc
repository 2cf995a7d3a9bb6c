// Arbitrary bytes as a compressed stream of each kind: unpacking takes all input or fails, whatever
// the sizes of input and output.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "record/index/unpacker.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  if (size < 3) return 0;
  constexpr std::array kKinds = {Compression::kGzip,     Compression::kZlib,   Compression::kZstd,
                                 Compression::kBzip2,    Compression::kBrotli, Compression::kSnappy,
                                 Compression::kByContent};
  std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data + 3), size - 3);
  const auto unpacker = Unpacker::make(rest, kKinds[data[0] % kKinds.size()]);
  if (!unpacker.ok()) return 0;
  std::array<std::byte, 4096> out;
  const std::size_t in_bytes = 1 + data[1] * std::size_t{8},
                    out_bytes = 1 + data[2] * std::size_t{16};
  std::size_t made = 0;
  while (!rest.empty()) {
    std::span<const std::byte> in = rest.first(std::min(rest.size(), in_bytes));
    rest = rest.subspan(in.size());
    for (std::size_t count = out_bytes; count == out_bytes;) {
      const auto unpacked = (*unpacker)->unpack(in, std::span(out).first(out_bytes));
      if (!unpacked.ok()) return 0;
      count = *unpacked;
      if (count > out_bytes) std::abort();
      made += count;
      if (made > 1 << 20) return 0;  // long enough
    }
    if (!in.empty()) std::abort();
  }
  return 0;
}
