// A prepared sample on its way from a preparation server to a host: the bytes of a frame, and how
// they are checked. docs/preparation_servers.md has the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::prepare {

// Part of the fingerprint that hosts and servers compare. To be raised with every change of the
// frames, and with every release whose decoded values differ from those of the release before.
inline constexpr std::uint32_t kSampleVersion = 1;

// A message of a bad record is cut to this.
inline constexpr std::size_t kReasonBytesMax = 512;

// Before each frame of an answer: field 1, length-delimited (PrepareResponse.frames). Answers are
// written and read without protobuf, which would copy the frames.
inline constexpr std::uint8_t kFramesTag = 1 << 3 | 2;

// Which sample a frame must have.
struct SampleKey {
  std::uint64_t record = 0;
  std::uint32_t epoch = 0;
};

// A frame in parts that follow each other, so that pictures and arrays need not be copied.
struct Frame {
  struct Part {
    std::span<const std::byte> bytes;
    std::shared_ptr<const Buffer> owner;
  };
  std::vector<Part> parts;
  std::size_t bytes() const;
};

// Takes the tensors' bytes. Those that are borrowed from `source` (the record, or the cache's
// sample; may be null) stay there, if they are a large part of it; others are copied. The sample
// has no parts of pictures.
Frame make_frame(const SampleKey& key, decode::Sample& sample,
                 const std::shared_ptr<const Buffer>& source);
// For a record that cannot be decoded: `why` is the server's decode error.
Frame make_frame(const SampleKey& key, const Status& why);

// A frame as its receiver sees it.
struct Content {
  Status bad;             // the record is bad, and this is why
  decode::Sample sample;  // if not: its tensors borrow the frame's bytes
};

// Checks that the frame is whole, of this record, and has these fields; then fills `content`.
// kDataLoss: it is not. Reads nothing outside `frame`, whatever its bytes are. The checksum is not
// compared here.
Status open_frame(std::span<const std::byte> frame, const SampleKey& key,
                  const std::vector<decode::FieldType>& fields, Content& content);

// Whether the frame's bytes agree with its checksum. `crc`: of all bytes from kChecksummedFrom on.
inline constexpr std::size_t kChecksummedFrom = 8;
bool agrees(std::span<const std::byte> frame, std::uint32_t crc);

}  // namespace echoline::prepare
