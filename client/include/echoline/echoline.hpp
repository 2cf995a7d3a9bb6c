// Echoline for C++: RAII and ranges on top of the C ABI of echoline.h. Header-only: no C++ type
// crosses the boundary of the library. Errors are exceptions of type echoline::Error. echoline.h
// documents each call in detail.
//
//   echoline::Loader loader("train", {.rank = 0, .world_size = 1});
//   for (const echoline::Batch& batch : loader.epoch()) {
//     std::span<const std::uint8_t> pixels = batch.tensor<std::uint8_t>("image");
//     std::vector<std::size_t> shape = batch.shape("image");
//   }
#pragma once

#include <echoline/echoline.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace echoline {

// Any failure: status() is an echoline_status, what() says what failed, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

// The trainer holds all slots: copy or release batches, or raise publish.slots.
class LeaseHeld : public Error {
 public:
  using Error::Error;
};

namespace detail {

inline void check(int status) {
  if (status == ECHOLINE_OK) return;
  const std::string text = std::string(echoline_status_text(status)) + ": " + echoline_last_error();
  if (status == ECHOLINE_LEASE_HELD) throw LeaseHeld(status, text);
  throw Error(status, text);
}

// Whether elements of this type may be read as T. C++20 has no type for 16-bit floats: read them as
// uint16_t.
template <typename T>
bool readable_as(std::uint32_t dtype) {
  if constexpr (std::is_same_v<T, std::byte>) return true;
  switch (dtype) {
    case ECHOLINE_UINT8:
      return std::is_same_v<T, std::uint8_t>;
    case ECHOLINE_INT8:
      return std::is_same_v<T, std::int8_t>;
    case ECHOLINE_FLOAT16:
    case ECHOLINE_BFLOAT16:
    case ECHOLINE_UINT16:
      return std::is_same_v<T, std::uint16_t>;
    case ECHOLINE_INT16:
      return std::is_same_v<T, std::int16_t>;
    case ECHOLINE_UINT32:
      return std::is_same_v<T, std::uint32_t>;
    case ECHOLINE_INT32:
      return std::is_same_v<T, std::int32_t>;
    case ECHOLINE_UINT64:
      return std::is_same_v<T, std::uint64_t>;
    case ECHOLINE_INT64:
      return std::is_same_v<T, std::int64_t>;
    case ECHOLINE_FLOAT32:
      return std::is_same_v<T, float>;
    case ECHOLINE_FLOAT64:
      return std::is_same_v<T, double>;
    default:
      return false;
  }
}

// The text that write(buffer, capacity, length) writes. `write` is a function of the C ABI that
// sets the length and returns RESOURCE_EXHAUSTED if the buffer is too small.
template <typename Write>
std::string read_text(Write write) {
  std::string text(512, '\0');
  for (;;) {
    std::size_t length = 0;
    const int status = write(text.data(), text.size(), &length);
    if (status == ECHOLINE_RESOURCE_EXHAUSTED && length >= text.size()) {
      text.resize(length + 1);
      continue;
    }
    check(status);
    text.resize(length);
    return text;
  }
}

}  // namespace detail

// The rows of a field whose rows have different lengths. A view, valid while its Batch lives.
template <typename T>
class Ragged {
 public:
  explicit Ragged(const echoline_tensor& tensor) : tensor_(tensor) {}
  std::size_t size() const { return static_cast<std::size_t>(tensor_.shape[0]); }
  // The shape of one element of a row: {4} for rows of boxes [n, 4], empty for rows of numbers.
  std::vector<std::size_t> inner_shape() const {
    return std::vector<std::size_t>(tensor_.shape + 1, tensor_.shape + tensor_.rank);
  }
  // The numbers of a row, all elements one after the other.
  std::span<const T> operator[](std::size_t row) const {
    const auto* bytes = static_cast<const std::byte*>(tensor_.data) + tensor_.offsets[row];
    return {reinterpret_cast<const T*>(bytes),
            (tensor_.offsets[row + 1] - tensor_.offsets[row]) / sizeof(T)};
  }

 private:
  echoline_tensor tensor_;
};

// One rank's rows of one batch: read-only views of shared memory, valid while the Batch lives.
// Move-only; the destructor releases the slots. Any thread may read or destroy it.
class Batch {
 public:
  Batch() = default;
  explicit Batch(echoline_batch* handle) : handle_(handle) {
    info_.size = sizeof(info_);
    detail::check(echoline_batch_get_info(handle, &info_));
  }

  explicit operator bool() const { return handle_ != nullptr; }

  // All elements of a field, row-major. Throws if there is no such field, or its type is not T.
  template <typename T>
  std::span<const T> tensor(const char* name) const {
    const echoline_tensor t = typed<T>(name);
    if (t.offsets != nullptr) {
      throw Error(ECHOLINE_INVALID_ARGUMENT,
                  std::string(name) + " has rows of different length: use ragged()");
    }
    return {static_cast<const T*>(t.data), static_cast<std::size_t>(t.bytes) / sizeof(T)};
  }
  template <typename T>
  std::span<const T> tensor(const std::string& name) const {
    return tensor<T>(name.c_str());
  }
  template <typename T>
  Ragged<T> ragged(const char* name) const {
    const echoline_tensor t = typed<T>(name);
    if (t.offsets == nullptr) {
      throw Error(ECHOLINE_INVALID_ARGUMENT, std::string(name) + " has no ragged rows");
    }
    return Ragged<T>(t);
  }
  // The shape of the field, batch dimension first; of a ragged field without the dimension whose
  // length differs.
  std::vector<std::size_t> shape(const char* name) const {
    const echoline_tensor t = raw(name);
    return std::vector<std::size_t>(t.shape, t.shape + t.rank);
  }
  // The tensor in the form of the C ABI.
  echoline_tensor raw(const char* name) const {
    echoline_tensor t;
    t.size = sizeof(t);
    detail::check(echoline_batch_find_tensor(handle_.get(), name, &t));
    return t;
  }

  // One value for each row: the record's position in the index, its use in this epoch, and flags;
  // see echoline_batch_sample_ids.
  std::span<const std::uint64_t> sample_ids() const {
    return {echoline_batch_sample_ids(handle_.get()), info_.rows};
  }
  std::span<const std::uint32_t> uses() const {
    return {echoline_batch_uses(handle_.get()), info_.rows};
  }
  std::span<const std::uint32_t> row_flags() const {
    return {echoline_batch_row_flags(handle_.get()), info_.rows};
  }

  std::size_t rows() const { return info_.rows; }
  // The rows from valid_rows() on are repeats that fill up the batch.
  std::size_t valid_rows() const { return info_.valid_rows; }
  std::size_t fresh() const { return info_.fresh; }
  // The largest length of the records of its bucket; 0: the stream has no buckets.
  std::size_t bucket_length() const { return info_.bucket_length; }
  std::uint32_t epoch() const { return info_.epoch; }
  std::uint64_t step() const { return info_.step; }
  bool last_of_epoch() const { return (info_.flags & ECHOLINE_BATCH_LAST) != 0; }
  const echoline_batch_info& info() const { return info_; }

  // Releases the slots before the Batch is destroyed.
  void release() { handle_.reset(); }

 private:
  struct Release {
    void operator()(echoline_batch* handle) const { echoline_batch_release(handle); }
  };

  template <typename T>
  echoline_tensor typed(const char* name) const {
    const echoline_tensor t = raw(name);
    if (detail::readable_as<T>(t.dtype)) return t;
    throw Error(ECHOLINE_INVALID_ARGUMENT, std::string(name) + " has elements of type " +
                                               echoline_dtype_name(t.dtype) +
                                               ", not of the type that was asked for");
  }

  std::unique_ptr<echoline_batch, Release> handle_;
  echoline_batch_info info_{};
};

// The position at which a loader without a state begins.
enum class Join {
  kStart = ECHOLINE_JOIN_START,
  kCurrent = ECHOLINE_JOIN_CURRENT,
  kNextEpoch = ECHOLINE_JOIN_NEXT_EPOCH
};

struct LoaderOptions {
  std::string job = "default";
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;  // of all ranks together; 0: the stream's
  Join join = Join::kStart;
  // How long calls wait for a daemon that went away; 0: its loss is an error at once.
  std::chrono::milliseconds reattach = std::chrono::seconds(60);
  std::string runtime_dir = {};        // empty: ECHOLINE_RUNTIME_DIR, else the host's default
  std::uint32_t local_world_size = 0;  // ranks of the job on this host; 0: not known
  std::string state = {};              // JSON from Loader::state(): continue there
  std::string expect = {};             // the fingerprint that the stream must have
  // How long the daemon may take to answer. It answers when the stream is open, and until then it
  // says every second how far that is, which prolongs the wait.
  std::chrono::milliseconds attach_timeout = std::chrono::seconds(120);
  // Called several times a second while the answer is awaited, with a text about it.
  std::function<void(const std::string&)> on_attach_wait = {};
};

// A trainer attached to a stream of this host's daemon. Movable. Any thread may make any call, but
// no call may run during destruction.
class Loader {
 public:
  explicit Loader(const std::string& stream, const LoaderOptions& options = {}) {
    echoline_attach_options o;
    echoline_attach_options_init(&o, sizeof(o));
    o.stream = stream.c_str();
    o.job = options.job.c_str();
    o.rank = options.rank;
    o.world_size = options.world_size;
    o.batch_size = options.batch_size;
    o.local_world_size = options.local_world_size;
    o.join = static_cast<std::uint32_t>(options.join);
    o.reattach_ms = options.reattach.count();
    o.attach_ms = options.attach_timeout.count();
    o.runtime_dir = options.runtime_dir.c_str();
    if (!options.state.empty()) o.state = options.state.c_str();
    if (!options.expect.empty()) o.expect = options.expect.c_str();
    if (options.on_attach_wait) o.flags |= ECHOLINE_ATTACH_ASYNC;
    echoline_loader* handle = nullptr;
    detail::check(echoline_attach(&o, &handle));
    handle_.reset(handle);
    if (options.on_attach_wait) await_attached(options.on_attach_wait);
  }

  // The next batch; nullopt at the end of an epoch, after which the next call continues with the
  // next epoch.
  std::optional<Batch> next() {
    Batch batch;
    if (next_within(std::chrono::milliseconds(-1), batch) == ECHOLINE_END_OF_EPOCH)
      return std::nullopt;
    return batch;
  }
  // ECHOLINE_OK, ECHOLINE_END_OF_EPOCH, or ECHOLINE_TIMEOUT after `timeout` (negative: no limit).
  int next_within(std::chrono::milliseconds timeout, Batch& batch) {
    echoline_batch* handle = nullptr;
    const int status = echoline_next(handle_.get(), timeout.count(), &handle);
    if (status == ECHOLINE_END_OF_EPOCH || status == ECHOLINE_TIMEOUT) return status;
    detail::check(status);
    batch = Batch(handle);
    return status;
  }

  // A range over the batches up to the end of the epoch. If the previous loop ended early, the rest
  // of its epoch is skipped. Each batch is released when the loop advances.
  class Epoch;
  Epoch epoch();
  void begin_epoch() { detail::check(echoline_begin_epoch(handle_.get())); }
  void skip(std::uint64_t steps) { detail::check(echoline_skip(handle_.get(), steps)); }

  // Ends the attachment: waiting and later calls of next() throw. state() and info() still work.
  void close() { detail::check(echoline_close(handle_.get())); }

  // Gives back one loss for each row, with the uses that Batch::uses() had, for the daemon's
  // metrics. Returns how many of them are finite and were counted; see echoline_report.
  std::size_t report(std::span<const float> losses, std::span<const std::uint32_t> uses) {
    if (losses.size() != uses.size()) {
      throw Error(ECHOLINE_INVALID_ARGUMENT, "report: " + std::to_string(losses.size()) +
                                                 " losses for " + std::to_string(uses.size()) +
                                                 " rows; give one loss for each row");
    }
    std::size_t counted = 0;
    detail::check(
        echoline_report(handle_.get(), losses.data(), uses.data(), losses.size(), &counted));
    return counted;
  }

  // The oldest message of the daemon about other ranks, for people to read; see echoline_take_news.
  std::optional<std::string> take_news() {
    std::string text(1024, '\0');
    const int status = echoline_take_news(handle_.get(), text.data(), text.size());
    if (status == ECHOLINE_NOT_FOUND) return std::nullopt;
    detail::check(status);
    text.resize(text.find('\0'));
    return text;
  }

  // The position after the batches that were returned, as JSON for a checkpoint.
  std::string state() const {
    return detail::read_text([&](char* buffer, std::size_t capacity, std::size_t* length) {
      return echoline_state(handle_.get(), buffer, capacity, length);
    });
  }

  echoline_loader_info info() const {
    echoline_loader_info info;
    info.size = sizeof(info);
    detail::check(echoline_loader_get_info(handle_.get(), &info));
    return info;
  }
  // Throws if epochs differ in length.
  std::uint64_t steps_per_epoch() const {
    std::uint64_t steps = 0;
    detail::check(echoline_steps_per_epoch(handle_.get(), &steps));
    return steps;
  }
  std::string fingerprint() const { return info().fingerprint; }
  std::vector<echoline_field> fields() const {
    std::vector<echoline_field> fields(info().field_count);
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
      fields[i].size = sizeof(echoline_field);
      detail::check(echoline_loader_get_field(handle_.get(), i, &fields[i]));
    }
    return fields;
  }
  echoline_loader* handle() const { return handle_.get(); }

 private:
  struct Detach {
    void operator()(echoline_loader* handle) const { echoline_detach(handle); }
  };
  void await_attached(const std::function<void(const std::string&)>& on_wait) {
    constexpr std::int64_t kSliceMs = 200;
    int status = ECHOLINE_TIMEOUT;
    while ((status = echoline_attach_wait(handle_.get(), kSliceMs)) == ECHOLINE_TIMEOUT) {
      on_wait(echoline_last_error());
    }
    detail::check(status);
  }
  std::unique_ptr<echoline_loader, Detach> handle_;
};

namespace detail {

// The batches that `loader.next(arguments...)` returns, up to the end of the epoch. Each is
// released when the loop advances.
template <typename LoaderType, typename BatchType, typename... Arguments>
class EpochRange {
 public:
  explicit EpochRange(LoaderType& loader, Arguments... arguments)
      : loader_(&loader), arguments_(arguments...) {}

  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = BatchType;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(EpochRange& range) : range_(&range) {}
    const BatchType& operator*() const { return *range_->current_; }
    const BatchType* operator->() const { return &*range_->current_; }
    Iterator& operator++() {
      range_->advance();
      return *this;
    }
    void operator++(int) { range_->advance(); }
    bool operator==(std::default_sentinel_t) const { return !range_->current_.has_value(); }

   private:
    EpochRange* range_;
  };

  Iterator begin() {
    loader_->begin_epoch();
    advance();
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  void advance() {
    current_.reset();
    current_ = std::apply([this](auto... given) { return loader_->next(given...); }, arguments_);
  }

  LoaderType* loader_;
  std::tuple<Arguments...> arguments_;
  std::optional<BatchType> current_;
};

}  // namespace detail

class Loader::Epoch : public detail::EpochRange<Loader, Batch> {
 public:
  using EpochRange::EpochRange;
};

inline Loader::Epoch Loader::epoch() { return Epoch(*this); }

}  // namespace echoline
