#include "audio/vorbis_headers.h"

#include <ogg/ogg.h>
#include <vorbis/codec.h>

#include <algorithm>
#include <cstring>

namespace echoline::audio {
namespace {

constexpr std::size_t kChunkBytes = 4096;  // the headers of most files
constexpr int kHeaders = 3;                // identification, comments, codebooks

// The packets of the first stream of an Ogg file.
class OggPackets {
 public:
  explicit OggPackets(std::span<const std::byte> bytes) : left_(bytes) { ogg_sync_init(&sync_); }
  OggPackets(const OggPackets&) = delete;
  OggPackets& operator=(const OggPackets&) = delete;
  ~OggPackets() {
    if (has_stream_) ogg_stream_clear(&stream_);
    ogg_sync_clear(&sync_);
  }

  // False at the end of the file, and where a packet is damaged.
  bool next(ogg_packet& packet) {
    for (;;) {
      const int found = has_stream_ ? ogg_stream_packetout(&stream_, &packet) : 0;
      if (found != 0) return found > 0;
      if (!read_page()) return false;
    }
  }

 private:
  bool read_page() {
    ogg_page page;
    while (ogg_sync_pageout(&sync_, &page) != 1) {
      if (!feed()) return false;
    }
    if (!has_stream_) has_stream_ = ogg_stream_init(&stream_, ogg_page_serialno(&page)) == 0;
    // Pages of other streams are passed over.
    if (has_stream_) ogg_stream_pagein(&stream_, &page);
    return has_stream_;
  }

  bool feed() {
    const std::size_t bytes = std::min(left_.size(), kChunkBytes);
    if (bytes == 0) return false;
    char* const to = ogg_sync_buffer(&sync_, static_cast<long>(bytes));
    if (to == nullptr) return false;
    std::memcpy(to, left_.data(), bytes);
    ogg_sync_wrote(&sync_, static_cast<long>(bytes));
    left_ = left_.subspan(bytes);
    return true;
  }

  std::span<const std::byte> left_;
  ogg_sync_state sync_{};
  ogg_stream_state stream_{};
  bool has_stream_ = false;
};

bool is_vorbis(const ogg_packet& first) {
  return first.bytes >= 7 && std::memcmp(first.packet, "\x01vorbis", 7) == 0;
}

}  // namespace

bool vorbis_headers_are_good(std::span<const std::byte> bytes) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "OggS", 4) != 0) return true;
  OggPackets packets(bytes);
  ogg_packet packet;
  // Without a whole first packet, libsndfile would look into its beginning.
  if (!packets.next(packet)) return false;
  if (!is_vorbis(packet)) return true;
  vorbis_info info;
  vorbis_comment comment;
  vorbis_info_init(&info);
  vorbis_comment_init(&comment);
  bool good = vorbis_synthesis_headerin(&info, &comment, &packet) == 0;
  for (int header = 1; good && header < kHeaders; ++header) {
    good = packets.next(packet) && vorbis_synthesis_headerin(&info, &comment, &packet) == 0;
  }
  vorbis_comment_clear(&comment);
  vorbis_info_clear(&info);
  return good;
}

}  // namespace echoline::audio
