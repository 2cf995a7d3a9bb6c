// What is known of a part of an object before it is unpacked, and how that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "record/index/byte_range.h"
#include "record/index/compression.h"
#include "record/index/content_file.h"

namespace echoline::record {

// How an object is compressed, if it is, and its size without that.
struct UnpackedForm {
  std::uint64_t bytes = 0;  // unpacked
  Compression compression = Compression::kByContent;
};

// Makes the content of one part. Single-threaded.
class PartUnpacker {
 public:
  virtual ~PartUnpacker() = default;
  // Takes the next bytes of the part's ranges. `last`: there are no more. Returns up to where the
  // content is complete now. kDataLoss and kFailedPrecondition if the bytes are not those that were
  // indexed, kResourceExhausted for a full disk.
  virtual Result<std::uint64_t> take(std::span<const std::byte> piece, bool last,
                                     ContentFile& content) = 0;
};

struct UnpackedPart {
  std::uint64_t begin = 0;  // of its content, in the unpacked bytes of its object
  UnpackedForm form;
  // What is read of the object, in this order; empty: all of it.
  std::vector<ByteRange> ranges;
  // Null: the object is one compressed stream.
  std::function<std::unique_ptr<PartUnpacker>()> make_unpacker;
};

// By address of the object; its parts follow each other.
using UnpackedParts = std::unordered_map<std::string, std::vector<UnpackedPart>>;

// For an object that is one compressed stream.
std::unique_ptr<PartUnpacker> make_stream_unpacker(UnpackedForm form);

}  // namespace echoline::record
