#include "batch/sample_cache.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace echoline::batch {
namespace {

// Before each tensor's bytes. In memory only, so the machine's own layout will do.
struct TensorHead {
  decode::Shape shape;
  shm::DType dtype;
  std::uint64_t bytes;
};

std::byte* put(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

}  // namespace

bool SampleCache::serves(std::uint64_t record) {
  const auto kept = samples_.find(record);
  if (kept == nullptr) return false;
  hits_.fetch_add(1, std::memory_order_relaxed);
  hit_bytes_.fetch_add(kept->size(), std::memory_order_relaxed);
  return true;
}

bool SampleCache::find(std::uint64_t record, decode::Sample& sample) const {
  const auto kept = samples_.find(record);
  if (kept == nullptr) return false;
  const std::byte* at = kept->data();
  std::size_t count = 0;
  while (at != kept->data() + kept->size()) {
    TensorHead head;
    std::memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (sample.tensors.size() <= count) sample.tensors.emplace_back();
    decode::Tensor& tensor = sample.tensors[count++];
    tensor.dtype = head.dtype;
    tensor.shape = head.shape;
    tensor.bytes.resize(head.bytes);
    put(tensor.bytes.data(), at, head.bytes);
    at += head.bytes;
  }
  sample.tensors.resize(count);
  return true;
}

void SampleCache::offer(std::uint64_t record, const decode::Sample& sample) {
  if (!admission_.in_memory(record) || samples_.holds(record)) return;
  auto value =
      std::make_shared<Buffer>(sample.bytes() + sample.tensors.size() * sizeof(TensorHead));
  std::byte* at = value->data();
  for (const decode::Tensor& tensor : sample.tensors) {
    const TensorHead head{tensor.shape, tensor.dtype, tensor.bytes.size()};
    at = put(at, &head, sizeof head);
    at = put(at, tensor.bytes.data(), tensor.bytes.size());
  }
  samples_.offer(record, std::move(value));
}

}  // namespace echoline::batch
