// Echoline for C++ on an NVIDIA GPU: RAII and ranges on top of the C ABI of echoline_cuda.h, which
// documents each call in detail. Header-only; builds without CUDA. Streams are CUstream or
// cudaStream_t; nullptr is the legacy default stream. Errors are exceptions of type
// echoline::Error.
//
//   echoline::cuda::Loader loader("train", {.depth = 3, .fields = {{.name = "image",
//                                                                   .dtype = ECHOLINE_FLOAT16}}});
//   for (const echoline::cuda::Batch& batch : loader.epoch(stream)) {
//     train<<<blocks, threads, 0, stream>>>(batch.tensor("image").data, ...);
//   }
#pragma once

#include <echoline/echoline_cuda.h>

#include <algorithm>
#include <echoline/echoline.hpp>

namespace echoline::cuda {

using Stream = void*;

// One rank's rows of one batch, in device memory. Move-only. The destructor releases the buffer on
// the stream that the batch was taken for: before that, make this stream wait for the work of other
// streams on the batch. Any thread may read or destroy it.
class Batch {
 public:
  Batch() = default;
  Batch(echoline_cuda_batch* handle, Stream stream) : handle_(handle, Release{stream}) {
    info_.size = sizeof(info_);
    detail::check(echoline_cuda_batch_get_info(handle, &info_));
  }

  explicit operator bool() const { return handle_ != nullptr; }

  // Device address, type and shape of a field. Throws if there is no such field.
  echoline_cuda_tensor tensor(const char* name) const {
    echoline_cuda_tensor t;
    t.size = sizeof(t);
    detail::check(echoline_cuda_batch_find_tensor(handle_.get(), name, &t));
    return t;
  }
  echoline_cuda_tensor tensor(const std::string& name) const { return tensor(name.c_str()); }

  // As in echoline::Batch, in host memory; `uses` includes device echo.
  std::span<const std::uint64_t> sample_ids() const {
    return {echoline_cuda_batch_sample_ids(handle_.get()), info_.rows};
  }
  std::span<const std::uint32_t> uses() const {
    return {echoline_cuda_batch_uses(handle_.get()), info_.rows};
  }
  std::span<const std::uint32_t> row_flags() const {
    return {echoline_cuda_batch_row_flags(handle_.get()), info_.rows};
  }

  std::size_t rows() const { return info_.rows; }
  std::size_t valid_rows() const { return info_.valid_rows; }
  std::size_t fresh() const { return info_.fresh; }
  std::size_t bucket_length() const { return info_.bucket_length; }
  std::uint32_t epoch() const { return info_.epoch; }
  std::uint64_t step() const { return info_.step; }
  bool last_of_epoch() const { return (info_.flags & ECHOLINE_BATCH_LAST) != 0; }
  const echoline_batch_info& info() const { return info_; }
  int device() const { return echoline_cuda_batch_device(handle_.get()); }

  // Makes another stream wait until the batch is ready.
  void wait(Stream stream) const { detail::check(echoline_cuda_batch_wait(handle_.get(), stream)); }
  // Releases the buffer before the Batch is destroyed, on the stream it was taken for or on
  // another.
  void release() { handle_.reset(); }
  void release(Stream stream) { echoline_cuda_release(handle_.release(), stream); }

 private:
  struct Release {
    Release() : stream(nullptr) {}
    explicit Release(Stream of_batch) : stream(of_batch) {}
    Stream stream;
    void operator()(echoline_cuda_batch* handle) const { echoline_cuda_release(handle, stream); }
  };
  std::unique_ptr<echoline_cuda_batch, Release> handle_;
  echoline_batch_info info_{};
};

enum class Layout {
  kAsIs = ECHOLINE_LAYOUT_AS_IS,
  kChw = ECHOLINE_LAYOUT_CHW,
  kHwc = ECHOLINE_LAYOUT_HWC
};

// The conversion of one field on the device; see echoline_cuda_field.
struct Field {
  std::string name = {};
  std::uint32_t dtype = 0;  // 0: the stream's type; else ECHOLINE_FLOAT32, _FLOAT16 or _BFLOAT16
  Layout layout = Layout::kAsIs;
  std::vector<float> mean = {};  // by channel; missing ones are 0
  std::vector<float> std = {};   // by channel; missing ones are 1
  bool flip = false;
  std::optional<double> pad = {};  // a ragged field: the value that fills up its rows to one tensor
};

// Device echo: the trainer gets each batch `factor` times; the device alternates among `window`
// batches.
struct Echo {
  std::uint32_t factor = 1;
  std::uint32_t window = 1;
};

struct Options {
  int device = 0;
  std::uint32_t depth = 3;  // batches that are being copied, ready, or held by the trainer
  Echo echo = {};
  std::vector<Field> fields = {};  // other fields are copied unchanged
};

// A trainer attached to a stream of this host's daemon; the library copies its batches to a device
// ahead of time. Movable. Any thread may make any call, but no call may run during destruction.
class Loader {
 public:
  explicit Loader(const std::string& stream, const Options& options = {},
                  const LoaderOptions& loader_options = {})
      : loader_(stream, loader_options), factor_(std::max<std::uint32_t>(options.echo.factor, 1)) {
    std::vector<echoline_cuda_field> fields;
    for (const Field& field : options.fields) fields.push_back(of(field));
    echoline_cuda_options o;
    echoline_cuda_options_init(&o, sizeof(o));
    o.device = options.device;
    o.depth = options.depth;
    o.echo_factor = options.echo.factor;
    o.echo_window = options.echo.window;
    o.fields = fields.data();
    o.field_count = static_cast<std::uint32_t>(fields.size());
    echoline_cuda* handle = nullptr;
    detail::check(echoline_cuda_open(loader_.handle(), &o, &handle));
    handle_.reset(handle);
  }

  // The next batch, for work on `stream`; nullopt at the end of an epoch, after which the next call
  // continues with the next epoch.
  std::optional<Batch> next(Stream stream = nullptr) {
    Batch batch;
    if (next_within(std::chrono::milliseconds(-1), batch, stream) == ECHOLINE_END_OF_EPOCH)
      return std::nullopt;
    return batch;
  }
  // ECHOLINE_OK, ECHOLINE_END_OF_EPOCH, or ECHOLINE_TIMEOUT after `timeout` (negative: no limit).
  int next_within(std::chrono::milliseconds timeout, Batch& batch, Stream stream = nullptr) {
    echoline_cuda_batch* handle = nullptr;
    const int status = echoline_cuda_next(handle_.get(), stream, timeout.count(), &handle);
    if (status == ECHOLINE_END_OF_EPOCH || status == ECHOLINE_TIMEOUT) return status;
    detail::check(status);
    batch = Batch(handle, stream);
    return status;
  }

  // A range over the batches up to the end of the epoch, as echoline::Loader::epoch(). Each batch
  // is released when the loop advances.
  class Epoch;
  Epoch epoch(Stream stream = nullptr);
  void begin_epoch() { detail::check(echoline_cuda_begin_epoch(handle_.get())); }

  // The position after the batches that were returned, as JSON for a checkpoint. To continue there,
  // pass it as LoaderOptions::state and use the same echo.
  std::string state() const {
    return detail::read_text([&](char* buffer, std::size_t capacity, std::size_t* length) {
      return echoline_cuda_state(handle_.get(), buffer, capacity, length);
    });
  }
  echoline_cuda_stats stats() const {
    echoline_cuda_stats stats;
    stats.size = sizeof(stats);
    detail::check(echoline_cuda_get_stats(handle_.get(), &stats));
    return stats;
  }
  // Batches of an epoch, including device echo. Throws if epochs differ in length.
  std::uint64_t steps_per_epoch() const { return loader_.steps_per_epoch() * factor_; }

  // Use it for info, fields and news; not for batches, positions or states.
  echoline::Loader& loader() { return loader_; }
  const echoline::Loader& loader() const { return loader_; }
  echoline_cuda* handle() const { return handle_.get(); }

 private:
  static echoline_cuda_field of(const Field& field) {
    echoline_cuda_field f;
    echoline_cuda_field_init(&f, sizeof(f));
    f.name = field.name.c_str();
    f.dtype = field.dtype;
    f.layout = static_cast<std::uint32_t>(field.layout);
    f.flip = field.flip ? 1 : 0;
    f.padded = field.pad ? 1 : 0;
    f.fill = field.pad.value_or(0);
    if (std::max(field.mean.size(), field.std.size()) > ECHOLINE_CUDA_CHANNELS_MAX) {
      throw Error(
          ECHOLINE_INVALID_ARGUMENT,
          field.name + ": more than " + std::to_string(ECHOLINE_CUDA_CHANNELS_MAX) + " channels");
    }
    std::copy(field.mean.begin(), field.mean.end(), f.mean);
    std::copy(field.std.begin(), field.std.end(), f.std);
    return f;
  }

  struct Close {
    void operator()(echoline_cuda* handle) const { echoline_cuda_close(handle); }
  };
  echoline::Loader loader_;
  std::uint64_t factor_;
  std::unique_ptr<echoline_cuda, Close> handle_;  // closed before its loader is detached
};

class Loader::Epoch : public echoline::detail::EpochRange<Loader, Batch, Stream> {
 public:
  using EpochRange::EpochRange;
};

inline Loader::Epoch Loader::epoch(Stream stream) { return Epoch(*this, stream); }

}  // namespace echoline::cuda
