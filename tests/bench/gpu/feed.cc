#include "bench/gpu/feed.h"

#include <unistd.h>

#include <chrono>
#include <thread>

namespace echoline::gpu {
namespace {

constexpr std::uint32_t kDepth = 3;
constexpr std::int64_t kPatienceMs = 60'000;

// An image of ring_server has 105 bytes; this many of them have those of 224 x 224 x 3, and 42
// more.
constexpr long kWide = 1434;

void must(int status, const char* what) {
  if (status != ECHOLINE_OK) {
    Gpu::must(client::Error(static_cast<echoline_status>(status),
                            std::string(what) + ": " + echoline_last_error()));
  }
}

std::vector<std::string> server_arguments(const FeedOptions& options) {
  return {"batch=" + std::to_string(options.rows), "rows=" + std::to_string(options.rows << 20),
          "wide=" + std::to_string(kWide), "slots=8",
          "batches_max=" + std::to_string(options.batches)};
}

}  // namespace

Feed::Feed(Gpu& gpu, const FeedOptions& options) : gpu_(gpu) {
  LoaderOptions where;
  if (options.stream.empty()) {
    server_ = std::make_unique<test::ServerProcess>(server_arguments(options));
    where.runtime_dir = server_->dir();
  }
  loader_ = std::make_unique<Loader>(options.stream.empty() ? "train" : options.stream, where);
  if (options.staged) hold_a_page();
  echoline_cuda_options cuda;
  echoline_cuda_options_init(&cuda, sizeof cuda);
  cuda.device = options.device;
  cuda.depth = kDepth;
  cuda.echo_factor = options.echo;
  must(echoline_cuda_open(loader_->handle(), &cuda, &cuda_), "can't open the device");
  stats_of(kDepth);
}

Feed::~Feed() {
  echoline_cuda_close(cuda_);
  if (held_ != nullptr) gpu_.driver().host_unregister(held_);
}

// Memory can be registered only once: when a page of it is registered already, the driver refuses
// the library's registration. If the device cannot register it at all, the library copies anyway.
void Feed::hold_a_page() {
  echoline_batch* batch = nullptr;
  must(echoline_next(loader_->handle(), kPatienceMs, &batch), "no batch");
  echoline_tensor tensor;
  tensor.size = sizeof tensor;
  must(echoline_batch_get_tensor(batch, 0, &tensor), "can't look at a batch");
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first =
      reinterpret_cast<std::uintptr_t>(tensor.data) / page_bytes * page_bytes;
  echoline_batch_release(batch);
  void* page = reinterpret_cast<void*>(first);
  constexpr unsigned kReadOnly =
      client::cuda::kHostRegisterPortable | client::cuda::kHostRegisterReadOnly;
  if (gpu_.driver().host_register(page, page_bytes, kReadOnly) == client::cuda::kSuccess) {
    held_ = page;
  }
}

void Feed::take(long batches, const std::function<void()>& work) {
  void* stream = gpu_.stream();
  while (batches > 0) {
    echoline_cuda_batch* batch = nullptr;
    const int status = echoline_cuda_next(cuda_, stream, kPatienceMs, &batch);
    if (status == ECHOLINE_END_OF_EPOCH) continue;
    must(status, "no batch");
    if (work) work();
    echoline_cuda_release(batch, stream);
    --batches;
  }
}

echoline_cuda_stats Feed::stats() const {
  echoline_cuda_stats stats;
  stats.size = sizeof stats;
  must(echoline_cuda_get_stats(cuda_, &stats), "no statistics");
  return stats;
}

echoline_cuda_stats Feed::stats_of(std::uint64_t batches) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  for (;;) {
    const echoline_cuda_stats now = stats();
    if (now.batches >= batches) return now;
    if (std::chrono::steady_clock::now() > end) {
      must(ECHOLINE_TIMEOUT, "the copies of batches don't end");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::uint64_t Feed::batch_bytes() const {
  const echoline_cuda_stats now = stats();
  return now.copied_bytes / now.batches;
}

const char* path_name(std::uint32_t path) {
  switch (path) {
    case ECHOLINE_PATH_READ_ONLY:
      return "registered read-only";
    case ECHOLINE_PATH_WRITABLE:
      return "registered writable";
    default:
      return "staged";
  }
}

}  // namespace echoline::gpu
