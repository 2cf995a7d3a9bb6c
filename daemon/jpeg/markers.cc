#include "jpeg/markers.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace echoline::jpeg {
namespace {

using std::string_view_literals::operator""sv;

// Marker codes of table B.1.
enum Marker : std::uint8_t {
  kBaselineFrame = 0xC0,
  kExtendedFrame = 0xC1,
  kHuffmanTables = 0xC4,
  kScan = 0xDA,
  kQuantizationTables = 0xDB,
  kRestartInterval = 0xDD,
  kApplication0 = 0xE0,
  kApplication1 = 0xE1,
  kApplication14 = 0xEE,
  kApplication15 = 0xEF,
  kComment = 0xFE,
};

constexpr std::size_t kCodeLengths = 16;
// Shorter segments are not taken as JFIF or Adobe, as in libjpeg.
constexpr std::size_t kJfifBytes = 14;
constexpr std::size_t kAdobeBytes = 12;
constexpr std::size_t kAdobeTransform = 11;

// libjpeg refuses a sum of DC differences above 2^31. It can't be reached below so many blocks,
// whose differences are below 2^11 each.
constexpr std::uint64_t kBlocksMax = std::uint64_t{1} << 20;

std::uint32_t word_at(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at] << 8 | bytes[at + 1]);
}

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

class HeaderReader {
 public:
  HeaderReader(Bytes file, Header& header) : file_(file), header_(header) {}
  bool read();

 private:
  // The code of the marker at `at_`, which may have fill bytes before it (B.1.1.2). 0: no marker.
  std::uint8_t next_marker();
  // The payload of the segment at `at_`, without its length; moves behind it.
  bool next_segment(Bytes& payload);
  bool read_segment(std::uint8_t marker, Bytes payload);
  bool read_frame(Bytes payload);
  bool read_quantization(Bytes payload);
  bool read_huffman(Bytes payload);
  bool read_restart_interval(Bytes payload);
  void read_adobe(Bytes payload);
  bool read_scan(Bytes payload);
  bool has_usual_sampling() const;
  bool is_ycbcr() const;
  bool has_tables() const;
  bool has_few_blocks() const;

  const Bytes file_;
  Header& header_;
  std::size_t at_ = 0;
  bool frame_ = false;
  bool jfif_ = false;
  bool adobe_ = false;
  std::uint8_t adobe_transform_ = 0;
};

std::uint8_t HeaderReader::next_marker() {
  if (at_ >= file_.size() || file_[at_] != 0xFF) return 0;
  while (at_ < file_.size() && file_[at_] == 0xFF) ++at_;
  return at_ < file_.size() ? file_[at_++] : 0;
}

bool HeaderReader::next_segment(Bytes& payload) {
  if (file_.size() - at_ < 2) return false;
  const std::size_t length = word_at(file_, at_);
  if (length < 2 || file_.size() - at_ < length) return false;
  payload = file_.subspan(at_ + 2, length - 2);
  at_ += length;
  return true;
}

bool HeaderReader::read() {
  if (!begins_with(file_, "\xFF\xD8"sv)) return false;
  at_ = 2;
  for (;;) {
    const std::uint8_t marker = next_marker();
    Bytes payload;
    if (marker == 0 || !next_segment(payload)) return false;
    if (marker == kScan) return read_scan(payload);
    if (!read_segment(marker, payload)) return false;
  }
}

bool HeaderReader::read_segment(std::uint8_t marker, Bytes payload) {
  switch (marker) {
    case kBaselineFrame:
    case kExtendedFrame:
      return read_frame(payload);
    case kHuffmanTables:
      return read_huffman(payload);
    case kQuantizationTables:
      return read_quantization(payload);
    case kRestartInterval:
      return read_restart_interval(payload);
    case kApplication0:
      jfif_ = jfif_ || (payload.size() >= kJfifBytes && begins_with(payload, "JFIF\0"sv));
      return true;
    case kApplication1:
      header_.app1.push_back(payload);
      return true;
    case kApplication14:
      read_adobe(payload);
      return true;
    default:
      return (marker > kApplication0 && marker <= kApplication15) || marker == kComment;
  }
}

bool HeaderReader::read_frame(Bytes payload) {
  constexpr std::size_t kFixed = 6;
  constexpr std::size_t kEach = 3;
  if (frame_ || payload.size() < kFixed || payload[0] != 8) return false;
  frame_ = true;
  header_.height = word_at(payload, 1);
  header_.width = word_at(payload, 3);
  header_.component_count = payload[5];
  if (header_.height == 0 || header_.width == 0) return false;
  if (header_.component_count != 1 && header_.component_count != 3) return false;
  if (payload.size() != kFixed + kEach * header_.component_count) return false;
  for (std::size_t i = 0; i < header_.component_count; ++i) {
    const Bytes entry = payload.subspan(kFixed + kEach * i, kEach);
    Component& component = header_.components[i];
    component.id = entry[0];
    component.horizontal = entry[1] >> 4;
    component.vertical = entry[1] & 15;
    component.quantization = entry[2];
    if (component.quantization >= header_.quantization.size()) return false;
  }
  return has_usual_sampling();
}

bool HeaderReader::has_usual_sampling() const {
  const auto within = [](int factor, int most) { return factor >= 1 && factor <= most; };
  const Component& first = header_.components[0];
  if (header_.component_count == 1) return within(first.horizontal, 4) && within(first.vertical, 4);
  for (std::size_t i = 1; i < header_.component_count; ++i) {
    const Component& chroma = header_.components[i];
    if (chroma.horizontal != 1 || chroma.vertical != 1) return false;
  }
  return within(first.horizontal, 2) && within(first.vertical, 2);
}

bool HeaderReader::read_quantization(Bytes payload) {
  while (!payload.empty()) {
    // The high half of the first byte is the precision; 0: one byte a value.
    const std::uint8_t number = payload[0];
    if (number >= header_.quantization.size() || payload.size() < 1 + kBlockSamples) return false;
    header_.quantization[number] = payload.subspan(1, kBlockSamples);
    payload = payload.subspan(1 + kBlockSamples);
  }
  return true;
}

bool HeaderReader::read_huffman(Bytes payload) {
  while (!payload.empty()) {
    if (payload.size() < 1 + kCodeLengths) return false;
    const std::uint8_t number = payload[0] & 15;
    const std::uint8_t kind = payload[0] >> 4;
    if (kind > 1 || number >= header_.dc.size()) return false;
    std::size_t symbols = 0;
    for (const std::uint8_t count : payload.subspan(1, kCodeLengths)) symbols += count;
    if (symbols > 256 || payload.size() < 1 + kCodeLengths + symbols) return false;
    auto& tables = kind == 0 ? header_.dc : header_.ac;
    tables[number] = payload.subspan(1, kCodeLengths + symbols);
    payload = payload.subspan(1 + kCodeLengths + symbols);
  }
  return true;
}

bool HeaderReader::read_restart_interval(Bytes payload) {
  if (payload.size() != 2) return false;
  header_.restart_interval = word_at(payload, 0);
  return true;
}

void HeaderReader::read_adobe(Bytes payload) {
  if (payload.size() < kAdobeBytes || !begins_with(payload, "Adobe"sv)) return;
  adobe_ = true;
  adobe_transform_ = payload[kAdobeTransform];
}

bool HeaderReader::read_scan(Bytes payload) {
  const std::size_t count = header_.component_count;
  if (!frame_ || payload.size() != 4 + 2 * count || payload[0] != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Component& component = header_.components[i];
    if (payload[1 + 2 * i] != component.id) return false;
    component.dc_table = payload[2 + 2 * i] >> 4;
    component.ac_table = payload[2 + 2 * i] & 15;
  }
  // All coefficients, in one pass.
  const Bytes last = payload.subspan(1 + 2 * count);
  if (last[0] != 0 || last[1] != kBlockSamples - 1 || last[2] != 0) return false;
  header_.scan_begin = at_;
  return is_ycbcr() && has_tables() && has_few_blocks();
}

// libjpeg's rules for three components.
bool HeaderReader::is_ycbcr() const {
  if (header_.component_count == 1) return true;
  const auto& [first, second, third] = header_.components;
  if (first.id == second.id || first.id == third.id || second.id == third.id) return false;
  if (jfif_) return true;
  if (adobe_) return adobe_transform_ == 1;
  return first.id != 'R' || second.id != 'G' || third.id != 'B';
}

bool HeaderReader::has_tables() const {
  for (std::size_t i = 0; i < header_.component_count; ++i) {
    const Component& component = header_.components[i];
    if (component.dc_table >= header_.dc.size() || component.ac_table >= header_.ac.size()) {
      return false;
    }
    if (header_.quantization[component.quantization].empty() ||
        header_.dc[component.dc_table].empty() || header_.ac[component.ac_table].empty()) {
      return false;
    }
  }
  return true;
}

bool HeaderReader::has_few_blocks() const {
  const std::uint64_t blocks =
      (std::uint64_t{header_.width} / 8 + 2) * (std::uint64_t{header_.height} / 8 + 2);
  return blocks < kBlocksMax;
}

}  // namespace

bool read_header(Bytes file, Header& header) {
  header.restart_interval = 0;
  header.quantization = {};
  header.dc = {};
  header.ac = {};
  header.app1.clear();
  if (!HeaderReader(file, header).read()) return false;
  // Factors mean nothing in a scan of one component (A.2.2): its MCU is one block.
  if (header.component_count == 1)
    header.components[0].horizontal = header.components[0].vertical = 1;
  return true;
}

}  // namespace echoline::jpeg
