#include "augment/float_step.h"

#include <fmt/format.h>

#include <cstring>

namespace echoline::augment {
namespace {

Status wrong_field(const decode::FieldType& type, const char* what) {
  return {Code::kInvalidArgument, fmt::format("field {} is no {}, but {} of rank {}", type.name,
                                              what, shm::dtype_name(type.dtype), type.shape.rank)};
}

}  // namespace

Result<std::size_t> find_audio(const std::vector<decode::FieldType>& fields,
                               const std::string& name) {
  ECHOLINE_ASSIGN(const std::size_t index, find_field(fields, name));
  if (fields[index].rate == 0) return wrong_field(fields[index], "audio (as: audio)");
  return index;
}

Result<std::size_t> find_spectrogram(const std::vector<decode::FieldType>& fields,
                                     const std::string& name) {
  ECHOLINE_ASSIGN(const std::size_t index, find_field(fields, name));
  const decode::FieldType& type = fields[index];
  if (type.dtype == shm::kFloat32 && type.shape.rank == 2) return index;
  return wrong_field(type, "spectrogram, float32 [frames, bands]");
}

Status FloatStep::run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
                      decode::Sample& out) const {
  borrow_all(in, out, outputs_.size());
  const decode::Tensor& from = in.tensors[field_];
  const std::span<const std::byte> bytes = from.content();
  const std::byte* data = bytes.data();
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(float) != 0) {
    Buffer& aligned = static_cast<FloatScratch*>(scratch)->aligned;
    aligned.resize(bytes.size());
    std::memcpy(aligned.data(), data, bytes.size());
    data = aligned.data();
  }
  const std::span values(reinterpret_cast<const float*>(data), bytes.size() / sizeof(float));
  return change({from.shape, values, key, scratch}, out);
}

std::span<float> FloatStep::make_values(decode::Sample& out, const decode::Shape& shape) const {
  std::byte* const bytes = make_room(out.tensors[field_], shm::kFloat32, shape);
  return {reinterpret_cast<float*>(bytes), shape.elements()};
}

}  // namespace echoline::augment
