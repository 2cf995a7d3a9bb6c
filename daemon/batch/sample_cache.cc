#include "batch/sample_cache.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace echoline::batch {
namespace {

// Precedes each tensor's bytes. It is only used in memory, so its layout need not be portable.
struct TensorHead {
  decode::Shape shape;
  shm::DType dtype;
  std::uint64_t bytes;
};

std::byte* put(std::byte* to, const void* from, std::size_t bytes) {
  // memcpy with a null pointer is undefined, also for no bytes.
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

}  // namespace

std::uint64_t SampleCache::kept_bytes(const decode::Sample& sample) {
  return sample.bytes() + sample.tensors.size() * sizeof(TensorHead);
}

// Estimates what the hit saves: fetching, at the present cost of the store, and decoding.
bool SampleCache::serves(std::uint64_t record, std::uint64_t encoded_bytes) {
  const auto kept = samples_.find(record);
  if (kept == nullptr) return false;
  hits_.fetch_add(1, std::memory_order_relaxed);
  hit_bytes_.fetch_add(kept->size(), std::memory_order_relaxed);
  const double decode_ns_per_byte =
      static_cast<double>(decode_ns_.load()) /
      static_cast<double>(std::max<std::uint64_t>(1, decoded_bytes_.load()));
  saved_ns_.fetch_add(
      static_cast<std::uint64_t>(static_cast<double>(encoded_bytes) * store_ns_per_byte_.load() +
                                 static_cast<double>(kept->size()) * decode_ns_per_byte),
      std::memory_order_relaxed);
  return true;
}

std::shared_ptr<const Buffer> SampleCache::find(std::uint64_t record,
                                                decode::Sample& sample) const {
  // Nothing is evicted, so the bytes stay valid without a lock, also when `kept` is gone.
  auto kept = samples_.find(record);
  if (kept == nullptr) return nullptr;
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
    // A cached sample is always whole.
    tensor.part.reset();
    tensor.reduction = {};
    tensor.borrowed = std::span(at, head.bytes);
    at += head.bytes;
  }
  sample.tensors.resize(count);
  return kept;
}

bool SampleCache::wants(std::uint64_t record) const {
  // Chosen by a hash of the record, before the first one arrives (cache/admission.h).
  return admission_.in_memory(record) && !samples_.holds(record);
}

void SampleCache::offer(std::uint64_t record, const decode::Sample& sample,
                        std::uint64_t decode_ns) {
  decode_ns_.fetch_add(decode_ns, std::memory_order_relaxed);
  decoded_bytes_.fetch_add(kept_bytes(sample), std::memory_order_relaxed);
  // Counted above even if it is not kept: the rate of decoding comes from all samples.
  if (!wants(record)) return;
  // A copy: the caller's buffers belong to its worker and are reused.
  auto value = std::make_shared<Buffer>(kept_bytes(sample));
  std::byte* at = value->data();
  for (const decode::Tensor& tensor : sample.tensors) {
    const std::span<const std::byte> content = tensor.content();
    const TensorHead head{tensor.shape, tensor.dtype, content.size()};
    at = put(at, &head, sizeof head);
    at = put(at, content.data(), content.size());
  }
  // May still refuse it, where samples are larger than estimated.
  samples_.offer(record, std::move(value));
}

}  // namespace echoline::batch
