// C ABI: the contents of batches.
#include "abi/batch_call.h"
#include "mapped_ring/batch.h"

namespace echoline::client {
namespace {

const Batch* to_batch(const echoline_batch* handle) {
  return reinterpret_cast<const Batch*>(handle);
}

}  // namespace
}  // namespace echoline::client

using namespace echoline::client;

extern "C" {

void echoline_batch_release(echoline_batch* batch) {
  // In a forked child nothing is freed: the parent owns the slots.
  if (readable(to_batch(batch))) delete to_batch(batch);
}

int echoline_batch_get_info(const echoline_batch* batch, echoline_batch_info* info) {
  return read_batch(to_batch(batch), info, [](const Batch& b, echoline_batch_info& made) -> Error {
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
  return read_batch(to_batch(batch), tensor, [&](const Batch& b, echoline_tensor& made) -> Error {
    const auto& fields = b.attachment().ring().fields();
    if (index >= fields.size()) return no_field_number(index, fields.size());
    b.tensor(fields[index], made);
    return {};
  });
}

int echoline_batch_find_tensor(const echoline_batch* batch, const char* name,
                               echoline_tensor* tensor) {
  return read_batch(to_batch(batch), tensor, [&](const Batch& b, echoline_tensor& made) -> Error {
    const auto& fields = b.attachment().ring().fields();
    for (const Field& field : fields) {
      if (name != nullptr && field.name == name) return b.tensor(field, made), Error();
    }
    return no_field_named(name, fields);
  });
}

const uint64_t* echoline_batch_sample_ids(const echoline_batch* batch) {
  // These functions have no status: NULL means that the handle cannot be used.
  return readable(to_batch(batch)) ? to_batch(batch)->sample_ids() : nullptr;
}

const uint32_t* echoline_batch_uses(const echoline_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->uses() : nullptr;
}

const uint32_t* echoline_batch_row_flags(const echoline_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->row_flags() : nullptr;
}

}  // extern "C"
