// C ABI: the contents of batches.
#include <cstring>

#include "abi/guarded_call.h"
#include "mapped_ring/batch.h"

namespace echoline::client {
namespace {

const Batch* to_batch(const echoline_batch* handle) {
  return reinterpret_cast<const Batch*>(handle);
}

// Runs `work` on the batch of a handle and copies its result to the caller's structure.
template <typename Out, typename Work>
int with(const echoline_batch* handle, Out* out, Work work) noexcept {
  return guarded([&]() -> Error {
    // Without a size it is not known how much of the structure may be written.
    if (handle == nullptr || !has_size(out)) {
      return {ECHOLINE_INVALID_ARGUMENT, "a batch or a structure with a size is missing"};
    }
    // After a fork the batch belongs to the parent, and its memory cannot be read here.
    if (forked(to_batch(handle)->generation())) return forked_error();
    // Copied whole at the end: after an error the caller's structure is unchanged.
    Out made{};
    Error e = work(*to_batch(handle), made);
    if (e.ok()) copy_out(made, out);
    return e;
  });
}

bool readable(const echoline_batch* handle) {
  return handle != nullptr && !forked(to_batch(handle)->generation());
}

}  // namespace
}  // namespace echoline::client

using namespace echoline::client;

extern "C" {

void echoline_batch_release(echoline_batch* batch) {
  // In a forked child nothing is freed: the parent owns the slots.
  if (readable(batch)) delete to_batch(batch);
}

int echoline_batch_get_info(const echoline_batch* batch, echoline_batch_info* info) {
  return with(batch, info, [](const Batch& b, echoline_batch_info& made) -> Error {
    made.step = b.info().step;
    made.row = b.info().position.row;
    made.epoch = b.info().position.epoch;
    made.rows = b.rows();
    made.valid_rows = b.valid_rows();
    made.fresh = b.fresh_rows();
    made.bucket_length = b.info().bucket_length;
    if (b.info().last) made.flags |= ECHOLINE_BATCH_LAST;
    if (b.info().rank_rows.padded()) made.flags |= ECHOLINE_BATCH_PADDED;
    if (b.copied()) made.flags |= ECHOLINE_BATCH_COPIED;
    return {};
  });
}

int echoline_batch_get_tensor(const echoline_batch* batch, uint32_t index,
                              echoline_tensor* tensor) {
  return with(batch, tensor, [&](const Batch& b, echoline_tensor& made) -> Error {
    const auto& fields = b.attachment().ring().fields();
    if (index >= fields.size()) {
      return {ECHOLINE_NOT_FOUND, "the stream has " + std::to_string(fields.size()) +
                                      " fields, no number " + std::to_string(index)};
    }
    b.tensor(fields[index], made);
    return {};
  });
}

int echoline_batch_find_tensor(const echoline_batch* batch, const char* name,
                               echoline_tensor* tensor) {
  return with(batch, tensor, [&](const Batch& b, echoline_tensor& made) -> Error {
    std::string known;
    for (const Field& field : b.attachment().ring().fields()) {
      if (name != nullptr && field.name == name) return b.tensor(field, made), Error();
    }
    // The error lists the names, because a wrong one is mostly a typing mistake.
    for (const Field& field : b.attachment().ring().fields()) known += " " + field.name;
    return {ECHOLINE_NOT_FOUND, "the stream has no field '" +
                                    std::string(name == nullptr ? "" : name) + "', but:" + known};
  });
}

const uint64_t* echoline_batch_sample_ids(const echoline_batch* batch) {
  // These functions have no status: NULL means that the handle cannot be used.
  return readable(batch) ? to_batch(batch)->sample_ids() : nullptr;
}

const uint32_t* echoline_batch_uses(const echoline_batch* batch) {
  return readable(batch) ? to_batch(batch)->uses() : nullptr;
}

const uint32_t* echoline_batch_row_flags(const echoline_batch* batch) {
  return readable(batch) ? to_batch(batch)->row_flags() : nullptr;
}

}  // extern "C"
