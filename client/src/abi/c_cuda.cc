// C ABI: batches on a GPU.
#include <cstring>
#include <memory>
#include <thread>

#include "abi/batch_call.h"
#include "abi/loader_handle.h"
#include "cuda/device_loader.h"
#include "cuda/no_signals.h"
#include "echoline/echoline_cuda.h"

// Shared: batches keep the device loader until they are released.
struct echoline_cuda {
  std::shared_ptr<echoline::client::cuda::DeviceLoader> loader;
};

namespace echoline::client::cuda {
namespace {

// A copy of the caller's structure. If the caller was built with an older, shorter version, the
// rest has the defaults.
template <typename T>
T filled(const T& given, T defaults) {
  std::memcpy(&defaults, &given, std::min(given.size, sizeof(T)));
  return defaults;
}

FieldOptions to_field_options(const echoline_cuda_field& field) {
  FieldOptions options;
  options.name = field.name == nullptr ? "" : field.name;
  options.dtype = field.dtype;
  options.layout = field.layout;
  options.flip = field.flip != 0;
  options.padded = field.padded != 0;
  options.fill = field.fill;
  std::copy(std::begin(field.mean), std::end(field.mean), options.mean);
  std::copy(std::begin(field.std), std::end(field.std), options.std);
  return options;
}

Error read_options(const echoline_cuda_options* given, Options& options) {
  if (!has_size(given)) return {ECHOLINE_INVALID_ARGUMENT, "options without a size"};
  // Options that the caller's version lacks have their defaults.
  echoline_cuda_options defaults{};
  echoline_cuda_options_init(&defaults, sizeof(defaults));
  const echoline_cuda_options o = filled(*given, defaults);
  options.device = o.device;
  options.depth = o.depth;
  options.echo_factor = o.echo_factor == 0 ? 1 : o.echo_factor;
  options.echo_window = o.echo_window == 0 ? 1 : o.echo_window;
  // A count without fields.
  if (o.field_count > 0 && o.fields == nullptr) return null_error();
  // The caller's version of the structure may be longer or shorter than ours: each element says its
  // own size.
  const auto* at = reinterpret_cast<const std::byte*>(o.fields);
  for (std::uint32_t i = 0; i < o.field_count; ++i) {
    const auto* field = reinterpret_cast<const echoline_cuda_field*>(at);
    if (!has_size(field)) return {ECHOLINE_INVALID_ARGUMENT, "a field without a size"};
    echoline_cuda_field field_defaults{};
    echoline_cuda_field_init(&field_defaults, sizeof(field_defaults));
    options.fields.push_back(to_field_options(filled(*field, field_defaults)));
    // The caller's size, because that is the distance in the caller's array.
    at += field->size;
  }
  return {};
}

const DeviceBatch* to_batch(const echoline_cuda_batch* handle) {
  return reinterpret_cast<const DeviceBatch*>(handle);
}

template <typename Work>
int with(echoline_cuda* handle, Work work) noexcept {
  return guarded([&]() -> Error {
    if (handle == nullptr) return null_error();
    if (forked(handle->loader->generation())) return forked_error();
    return work(*handle->loader);
  });
}

void fill_tensor(const DeviceBatch& batch, std::size_t index, echoline_cuda_tensor& tensor) {
  const Buffer& buffer = *batch.slot->buffer;
  const FieldPlan& plan = batch.loader->layout().fields[index];
  tensor.name = plan.name.c_str();
  // The layout's fields have the order of the stream's fields.
  tensor.dtype = plan.dtype;
  tensor.data = buffer.at(plan.result);
  tensor.rank = 1;
  std::uint64_t inner_bytes = plan.element_bytes;
  for (const std::uint64_t size : plan.sizes) {
    inner_bytes *= size;
    tensor.shape[tensor.rank++] = size;
  }
  // A ragged field is one run of values with offsets.
  if (plan.ragged) {
    tensor.offsets = buffer.at(plan.offsets);
    tensor.bytes = buffer.value_bytes(index);
    tensor.shape[0] = tensor.bytes / inner_bytes;
    return;
  }
  // The first dimension is the rows of this rank.
  tensor.shape[0] = buffer.rows();
  tensor.bytes = buffer.rows() * plan.row_bytes;
}

}  // namespace
}  // namespace echoline::client::cuda

using namespace echoline::client;
using namespace echoline::client::cuda;

extern "C" {

void echoline_cuda_options_init(echoline_cuda_options* options, size_t size) {
  // Nothing could be written into it.
  if (options == nullptr || size < sizeof(size_t)) return;
  echoline_cuda_options defaults{};
  defaults.depth = Options{}.depth;
  defaults.echo_factor = 1;
  defaults.echo_window = 1;
  options->size = size;
  copy_out(defaults, options);
}

void echoline_cuda_field_init(echoline_cuda_field* field, size_t size) {
  if (field == nullptr || size < sizeof(size_t)) return;
  echoline_cuda_field defaults{};
  // Divides by nothing, as a std of 0 would do (plan_normalize).
  std::fill(std::begin(defaults.std), std::end(defaults.std), 1.0F);
  field->size = size;
  copy_out(defaults, field);
}

int echoline_cuda_open(echoline_loader* loader, const echoline_cuda_options* options,
                       echoline_cuda** cuda) {
  return guarded([&]() -> Error {
    if (loader == nullptr || cuda == nullptr) return null_error();
    // On an error the caller finds no handle.
    *cuda = nullptr;
    if (forked(loader->loader.generation())) return forked_error();
    Options read;
    if (Error e = read_options(options, read); !e.ok()) return e;
    // Owned here until it is open, so an error frees it.
    auto made = std::make_unique<echoline_cuda>();
    if (Error e = DeviceLoader::open(loader->loader, read, made->loader); !e.ok()) return e;
    *cuda = made.release();
    return {};
  });
}

void echoline_cuda_close(echoline_cuda* cuda) {
  // A forked child cannot use the parent's device.
  if (cuda == nullptr || forked(cuda->loader->generation())) return;
  cuda->loader->close();
  delete cuda;
}

int echoline_cuda_get_stats(echoline_cuda* cuda, echoline_cuda_stats* stats) {
  return with(cuda, [&](DeviceLoader& l) -> Error {
    if (!has_size(stats)) return null_error();
    echoline_cuda_stats made{};
    l.stats(made);
    copy_out(made, stats);
    return {};
  });
}

int echoline_cuda_next(echoline_cuda* cuda, void* stream, int64_t timeout_ms,
                       echoline_cuda_batch** batch) {
  return with(cuda, [&](DeviceLoader& l) -> Error {
    if (batch == nullptr) return null_error();
    *batch = nullptr;
    std::unique_ptr<DeviceBatch> made;
    if (Error e = l.next(static_cast<StreamHandle>(stream), timeout_ms, made); !e.ok()) return e;
    *batch = reinterpret_cast<echoline_cuda_batch*>(made.release());
    return {};
  });
}

int echoline_cuda_batch_wait(const echoline_cuda_batch* batch, void* stream) {
  return guarded([&]() -> Error {
    if (batch == nullptr) return null_error();
    if (!readable(to_batch(batch))) return forked_error();
    return to_batch(batch)->loader->make_wait(*to_batch(batch), static_cast<StreamHandle>(stream));
  });
}

void echoline_cuda_release(echoline_cuda_batch* batch, void* stream) {
  if (!readable(to_batch(batch))) return;
  // From here on the handle is gone, whatever release() does.
  const std::unique_ptr<DeviceBatch> owned(reinterpret_cast<DeviceBatch*>(batch));
  guarded([&]() -> Error {
    owned->loader->release(*owned, static_cast<StreamHandle>(stream));
    // The last owner frees the device's memory. If that has to wait for the device, a thread does
    // it instead of the caller.
    if (owned->loader.use_count() == 1 && !owned->loader->idle()) {
      const NoSignals no_signals;
      std::thread([last = std::move(owned->loader)] {}).detach();
    }
    return {};
  });
}

int echoline_cuda_begin_epoch(echoline_cuda* cuda) {
  return with(cuda, [](DeviceLoader& l) { return l.begin_epoch(); });
}

int echoline_cuda_state(echoline_cuda* cuda, char* buffer, size_t capacity, size_t* length) {
  return with(cuda, [&](DeviceLoader& l) -> Error {
    State state;
    if (Error e = l.state(state); !e.ok()) return e;
    return write_state_to(state, buffer, capacity, length);
  });
}

int echoline_cuda_batch_get_info(const echoline_cuda_batch* batch, echoline_batch_info* info) {
  return read_batch(
      to_batch(batch), info, [](const DeviceBatch& b, echoline_batch_info& made) -> Error {
        const BatchInfo& facts = b.slot->buffer->facts();
        made.step = facts.step;
        made.row = facts.position.row;
        // Of this rank's rows; padded rows come behind the valid ones.
        made.epoch = facts.position.epoch;
        made.rows = b.slot->buffer->rows();
        made.valid_rows = static_cast<std::uint32_t>(facts.rank_rows.valid());
        made.bucket_length = facts.bucket_length;
        const auto valid = b.uses.begin() + made.valid_rows;
        // Fresh rows have use 0; only valid rows count.
        made.fresh = static_cast<std::uint32_t>(std::count(b.uses.begin(), valid, 0U));
        if (b.last_of_epoch) made.flags |= ECHOLINE_BATCH_LAST;
        if (facts.rank_rows.padded()) made.flags |= ECHOLINE_BATCH_PADDED;
        return {};
      });
}

int echoline_cuda_batch_get_tensor(const echoline_cuda_batch* batch, uint32_t index,
                                   echoline_cuda_tensor* tensor) {
  return read_batch(to_batch(batch), tensor,
                    [&](const DeviceBatch& b, echoline_cuda_tensor& made) -> Error {
                      const std::size_t count = b.loader->layout().fields.size();
                      if (index >= count) return no_field_number(index, count);
                      fill_tensor(b, index, made);
                      return {};
                    });
}

int echoline_cuda_batch_find_tensor(const echoline_cuda_batch* batch, const char* name,
                                    echoline_cuda_tensor* tensor) {
  return read_batch(to_batch(batch), tensor,
                    [&](const DeviceBatch& b, echoline_cuda_tensor& made) -> Error {
                      const auto& fields = b.loader->layout().fields;
                      for (std::size_t i = 0; i < fields.size(); ++i) {
                        if (name != nullptr && fields[i].name == name)
                          return fill_tensor(b, i, made), Error();
                      }
                      return no_field_named(name, fields);
                    });
}

const uint64_t* echoline_cuda_batch_sample_ids(const echoline_cuda_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->slot->buffer->sample_ids().data() : nullptr;
}

const uint32_t* echoline_cuda_batch_uses(const echoline_cuda_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->uses.data() : nullptr;
}

const uint32_t* echoline_cuda_batch_row_flags(const echoline_cuda_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->slot->buffer->row_flags().data() : nullptr;
}

int echoline_cuda_batch_device(const echoline_cuda_batch* batch) {
  return readable(to_batch(batch)) ? to_batch(batch)->loader->device().ordinal() : -1;
}

}  // extern "C"
