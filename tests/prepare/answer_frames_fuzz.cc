// Any answer of a preparation server is either refused, or has frames that open to samples of the
// pipeline's fields. Most inputs are a good answer with some bytes changed and its checksums
// written again, so that the checks behind the checksum run too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "engine/remote/answer_frames.h"
#include "sample_answers.h"

namespace {

namespace prepare = echoline::prepare;

const std::vector<std::uint64_t> kRecords{3, 9};

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::span<const std::byte> answer, std::size_t cut) {
  static const auto fields = prepare::sample_fields();
  const std::size_t first = answer.empty() ? 0 : cut % answer.size();
  const auto frames =
      echoline::engine::frames_of({answer.first(first), answer.subspan(first)}, kRecords, fields);
  if (!frames.ok()) return;
  require(!frames->empty() && frames->size() <= kRecords.size());
  for (std::size_t i = 0; i < frames->size(); ++i) {
    prepare::Content content;
    const auto frame = (*frames)[i]->span();
    require(prepare::open_frame(frame, {kRecords[i], 0}, fields, content).ok());
    if (!content.bad.ok()) continue;
    std::size_t sum = 0;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const echoline::decode::Tensor& tensor = content.sample.tensors[field];
      require(tensor.dtype == fields[field].dtype);
      require(tensor.shape.elements() * echoline::shm::dtype_bytes(tensor.dtype) ==
              tensor.content().size());
      for (const std::byte byte : tensor.content()) sum += static_cast<std::size_t>(byte);
    }
    require(sum <= frame.size() * 255);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span(data, size)), size / 2);
  std::vector<std::vector<std::byte>> frames;
  for (const std::uint64_t record : kRecords) {
    echoline::decode::Sample sample = prepare::sample_of(static_cast<std::uint8_t>(record));
    frames.push_back(prepare::joined(prepare::make_frame({record, 0}, sample, nullptr)));
  }
  std::vector<std::byte>& changed = frames[size % 2];
  for (std::size_t at = 0; at + 3 <= size; at += 3) {
    changed[(data[at] | data[at + 1] << 8U) % changed.size()] =
        static_cast<std::byte>(data[at + 2]);
  }
  prepare::reseal(changed);
  check(prepare::answer_of(frames), size);
  return 0;
}
