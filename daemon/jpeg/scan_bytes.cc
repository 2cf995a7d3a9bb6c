#include "jpeg/scan_bytes.h"

#include <cstring>

namespace echoline::jpeg {
namespace {

constexpr std::uint8_t kRestart0 = 0xD0;

}  // namespace

bool ScanBytes::load(Bytes file, std::size_t begin, bool restarts, std::size_t enough) {
  ends_.clear();
  if (begin >= file.size()) return false;
  bytes_.resize(file.size() - begin + kPadding);
  auto* const first = reinterpret_cast<std::uint8_t*>(bytes_.data());
  std::uint8_t* out = first;
  const std::uint8_t* in = file.data() + begin;
  const std::uint8_t* const end = file.data() + file.size();
  for (unsigned restart = 0;;) {
    const auto left = static_cast<std::size_t>(end - in);
    const auto* escape = static_cast<const std::uint8_t*>(std::memchr(in, 0xFF, left));
    if (escape == nullptr || escape + 1 == end || escape[1] == 0xFF) return false;
    const std::uint8_t code = escape[1];
    const std::size_t kept = static_cast<std::size_t>(escape - in) + (code == 0 ? 1 : 0);
    std::memcpy(out, in, kept);
    out += kept;
    in = escape + 2;
    const auto size = static_cast<std::size_t>(out - first);
    if (code == 0 && size < enough) continue;
    ends_.push_back(size);
    if (size >= enough || !restarts || code != kRestart0 + restart) break;
    restart = (restart + 1) % 8;
  }
  std::memset(out, 0, kPadding);
  return true;
}

const std::uint8_t* ScanBytes::begin(std::size_t interval) const {
  return data() + (interval == 0 ? 0 : ends_[interval - 1]);
}

const std::uint8_t* ScanBytes::end(std::size_t interval) const { return data() + ends_[interval]; }

}  // namespace echoline::jpeg
