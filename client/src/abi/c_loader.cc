// C ABI: attach, take batches, position and state.
#include <memory>
#include <string>

#include "abi/loader_handle.h"
#include "attach/runtime_dir.h"
#include "loader/losses.h"

namespace echoline::client {
namespace {

constexpr std::int64_t kAttachMs = 120'000;
constexpr std::int64_t kReattachMs = 60'000;

// Continues at the position of a saved state.
Error use_state(const char* text, LoaderOptions& options) {
  AttachOptions& attach = options.attach;
  State state;
  if (Error e = parse_state(text, state); !e.ok()) return e;
  // A position belongs to one stream, also where two streams have the same data.
  if (state.stream != attach.stream) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "the state is one of stream '" + state.stream + "', not of '" + attach.stream + "'"};
  }
  // From here on the state says where to begin, and the caller's `join` has no effect.
  attach.join = shm::kJoinPosition;
  attach.position = state.position;
  attach.changes = std::move(state.changes);
  attach.weights = std::move(state.weights);
  // The daemon refuses the state if the stream's data or order differ.
  attach.has_fingerprint = true;
  attach.fingerprint = state.fingerprint;
  attach.plan_version = state.plan_version;
  options.device = state.device;
  return {};
}

// Requires the fingerprint that the caller expects.
Error use_expectation(const char* text, AttachOptions& attach) {
  Fingerprint fingerprint;
  if (!from_hex(text, fingerprint)) {
    return {ECHOLINE_INVALID_ARGUMENT, "expect is not a fingerprint of 32 hexadecimal digits"};
  }
  // State and expectation must agree.
  if (attach.has_fingerprint && attach.fingerprint != fingerprint) {
    return {ECHOLINE_FAILED_PRECONDITION, "the state is not one of the expected fingerprint"};
  }
  attach.has_fingerprint = true;
  attach.fingerprint = fingerprint;
  return {};
}

// Checks the caller's structure, which may be of an older version, and converts it.
Error read_options(const echoline_attach_options* given, LoaderOptions& options, bool& async) {
  if (!has_size(given)) return {ECHOLINE_INVALID_ARGUMENT, "options without a size"};
  echoline_attach_options o;
  // Defaults first, because the structure of an older caller is shorter.
  echoline_attach_options_init(&o, sizeof(o));
  std::memcpy(&o, given, std::min(given->size, sizeof(o)));
  AttachOptions& attach = options.attach;
  attach.stream = o.stream == nullptr ? "" : o.stream;
  if (o.job != nullptr) attach.job = o.job;
  attach.rank = o.rank;
  // 0: not set.
  attach.world_size = o.world_size == 0 ? 1 : o.world_size;
  attach.batch_size = o.batch_size;
  attach.local_world_size = o.local_world_size;
  // 0: start, for a caller that only zeroed the structure.
  if (o.join == 0) o.join = ECHOLINE_JOIN_START;
  if (o.join < ECHOLINE_JOIN_START || o.join > ECHOLINE_JOIN_NEXT_EPOCH) {
    return {ECHOLINE_INVALID_ARGUMENT, "join must be start, current or next_epoch"};
  }
  attach.join = static_cast<shm::JoinAt>(o.join);
  // The options before the state, so that a wrong option is reported as such.
  if (Error e = check_options(attach); !e.ok()) return e;
  if (o.state != nullptr) {
    if (Error e = use_state(o.state, options); !e.ok()) return e;
  }
  if (o.expect != nullptr) {
    if (Error e = use_expectation(o.expect, attach); !e.ok()) return e;
  }
  // Finds the folder of the daemon's socket; NULL lets the environment decide.
  options.runtime_dir = find_runtime_dir(o.runtime_dir == nullptr ? "" : o.runtime_dir);
  options.attach_ms = o.attach_ms == 0 ? kAttachMs : o.attach_ms;
  options.reattach_ms = o.reattach_ms;
  attach.overlap = (o.flags & ECHOLINE_ATTACH_OVERLAP) != 0;
  async = (o.flags & ECHOLINE_ATTACH_ASYNC) != 0;
  return {};
}

// Runs `work` on the loader of a handle; FORKED if the handle belongs to a parent process.
template <typename Work>
int with(echoline_loader* handle, Work work) noexcept {
  return guarded([&]() -> Error {
    if (handle == nullptr) return null_error();
    if (forked(handle->loader.generation())) return forked_error();
    return work(handle->loader);
  });
}

}  // namespace

Error write_state_to(const State& state, char* buffer, std::size_t capacity, std::size_t* length) {
  const std::string text = write_state(state);
  if (length != nullptr) *length = text.size();
  // A NULL buffer asks for the length only.
  if (buffer == nullptr || capacity <= text.size()) {
    return {ECHOLINE_RESOURCE_EXHAUSTED,
            // The caller's buffer needs room for the zero, too.
            "the state has " + std::to_string(text.size()) + " bytes and a terminating zero"};
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return {};
}

}  // namespace echoline::client

using namespace echoline::client;

extern "C" {

void echoline_attach_options_init(echoline_attach_options* options, size_t size) {
  if (options == nullptr || size < sizeof(size_t)) return;
  echoline_attach_options defaults{};
  defaults.world_size = 1;
  defaults.join = ECHOLINE_JOIN_START;
  defaults.attach_ms = kAttachMs;
  defaults.reattach_ms = kReattachMs;
  options->size = size;
  copy_out(defaults, options);
}

int echoline_attach(const echoline_attach_options* options, echoline_loader** loader) {
  return guarded([&]() -> Error {
    if (loader == nullptr) return null_error();
    // On an error the caller finds no handle.
    *loader = nullptr;
    LoaderOptions read;
    bool async = false;
    if (Error e = read_options(options, read, async); !e.ok()) return e;
    // Without ASYNC the call blocks until attached; the loader's attach time limits it.
    auto made = std::unique_ptr<echoline_loader>(new echoline_loader{Loader(std::move(read))});
    if (!async) {
      if (Error e = made->loader.await_attached(-1); !e.ok()) return e;
    }
    *loader = made.release();
    return {};
  });
}

int echoline_attach_wait(echoline_loader* loader, int64_t timeout_ms) {
  return with(loader, [&](Loader& l) { return l.await_attached(timeout_ms); });
}

void echoline_detach(echoline_loader* loader) {
  // In a forked child the lock may be held by a thread that does not exist there. So leak the
  // object.
  if (loader == nullptr || forked(loader->loader.generation())) return;
  delete loader;
}

int echoline_close(echoline_loader* loader) {
  return with(loader, [](Loader& l) { return l.close(), Error(); });
}

int echoline_next(echoline_loader* loader, int64_t timeout_ms, echoline_batch** batch) {
  return with(loader, [&](Loader& l) -> Error {
    if (batch == nullptr) return null_error();
    // On an error the caller finds no batch.
    *batch = nullptr;
    // The position of such a state counts uses on the device, which this call knows nothing of.
    if (l.device_echo_position()) {
      return {ECHOLINE_FAILED_PRECONDITION,
              "the state was taken under device echo; open the device with echoline_cuda_open"};
    }
    std::unique_ptr<Batch> made;
    if (Error e = l.next(timeout_ms, made); !e.ok()) return e;
    *batch = reinterpret_cast<echoline_batch*>(made.release());
    return {};
  });
}

int echoline_begin_epoch(echoline_loader* loader) {
  return with(loader, [](Loader& l) { return l.begin_epoch(); });
}

int echoline_skip(echoline_loader* loader, uint64_t steps) {
  return with(loader, [&](Loader& l) { return l.skip(steps); });
}

int echoline_steps_per_epoch(echoline_loader* loader, uint64_t* steps) {
  return with(loader, [&](Loader& l) {
    return steps == nullptr ? null_error() : l.steps_per_epoch(*steps);
  });
}

int echoline_loader_get_info(echoline_loader* loader, echoline_loader_info* info) {
  return with(loader, [&](Loader& l) -> Error {
    if (!has_size(info)) return null_error();
    echoline_loader_info made{};
    Error e = l.info(made);
    if (e.ok()) copy_out(made, info);
    return e;
  });
}

int echoline_loader_get_field(echoline_loader* loader, uint32_t index, echoline_field* field) {
  return with(loader, [&](Loader& l) -> Error {
    if (!has_size(field)) return null_error();
    echoline_field made{};
    Error e = l.field(index, made);
    if (e.ok()) copy_out(made, field);
    return e;
  });
}

int echoline_report(echoline_loader* loader, const float* losses, const uint32_t* uses, size_t rows,
                    size_t* counted) {
  return with(loader, [&](Loader& l) -> Error {
    if (rows > 0 && (losses == nullptr || uses == nullptr)) return null_error();
    const auto by_use = losses_by_use({losses, rows}, uses);
    const auto attachment = l.attachment();
    if (attachment == nullptr)
      return {ECHOLINE_UNAVAILABLE, "not attached yet; call echoline_attach_wait"};
    // Lost while the daemon is away: it does not look at this page any more.
    attachment->cursor().add_losses(by_use);
    if (counted != nullptr) *counted = rows_of(by_use);
    return {};
  });
}

int echoline_take_news(echoline_loader* loader, char* buffer, size_t capacity) {
  return with(loader, [&](Loader& l) -> Error {
    if (buffer == nullptr || capacity == 0) return null_error();
    const std::optional<std::string> news = l.take_news();
    // No error of the loader: there is nothing to say.
    if (!news) return {ECHOLINE_NOT_FOUND, "no news"};
    // Cut to the buffer: the text is for people.
    const std::size_t length = std::min(news->size(), capacity - 1);
    std::memcpy(buffer, news->data(), length);
    buffer[length] = '\0';
    return {};
  });
}

int echoline_state(echoline_loader* loader, char* buffer, size_t capacity, size_t* length) {
  return with(loader, [&](Loader& l) -> Error {
    State state;
    if (Error e = l.state(state); !e.ok()) return e;
    return write_state_to(state, buffer, capacity, length);
  });
}

}  // extern "C"
