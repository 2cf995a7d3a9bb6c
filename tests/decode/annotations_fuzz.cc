// Any bytes as annotations of each kind: refused, or at most as many objects as allowed, each with
// a name and a box whose corners are in order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "decode/annotations.h"

namespace {

using echoline::decode::Annotations;

constexpr std::size_t kObjectsMax = 20;

void check(const Annotations& found) {
  if (found.objects.size() > kObjectsMax) std::abort();
  for (const Annotations::Object& object : found.objects) {
    if (object.name_begin > object.name_end || object.name_end > found.names.size()) std::abort();
    if (found.name(object).empty()) std::abort();
    if (!(object.box[0] <= object.box[2] && object.box[1] <= object.box[3])) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Annotations found;  // reused, as a worker does
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  for (const auto read :
       {echoline::decode::read_voc, echoline::decode::read_coco, echoline::decode::read_yolo}) {
    if (read(file, kObjectsMax, found).ok()) check(found);
  }
  return 0;
}
