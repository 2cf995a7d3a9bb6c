// Takes every batch of a few epochs on a GPU and prints their rate. Builds without the CUDA
// toolkit. A trainer would queue its work on the stream of each batch, here the legacy default
// stream.
//
// usage: gpu_rate [STREAM [EPOCHS [ECHO_FACTOR [ECHO_WINDOW]]]]
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <echoline/echoline_cuda.hpp>
#include <thread>

namespace {

std::uint32_t number(int argc, char** argv, int index, std::uint32_t fallback) {
  return index < argc ? static_cast<std::uint32_t>(std::strtoul(argv[index], nullptr, 10))
                      : fallback;
}

constexpr const char* path_of(std::uint32_t path) {
  switch (path) {
    case ECHOLINE_PATH_READ_ONLY:
      return "shared memory registered read-only";
    case ECHOLINE_PATH_WRITABLE:
      return "shared memory registered writable";
    default:
      return "copies through pinned memory";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::uint32_t epochs = number(argc, argv, 2, 1);
  echoline::cuda::Options options;
  options.echo = {number(argc, argv, 3, 1), number(argc, argv, 4, 1)};
  if (options.echo.factor == 0) options.echo.factor = 1;
  echoline::cuda::Loader loader(argc > 1 ? argv[1] : "train", options);
  std::uint64_t rows = 0;
  std::uint64_t fresh = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    for (const echoline::cuda::Batch& batch : loader.epoch()) {
      rows += batch.valid_rows();
      fresh += batch.fresh();
    }
  }
  while (loader.stats().batches * options.echo.factor < loader.stats().uses) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the last copies are in flight
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const echoline_cuda_stats stats = loader.stats();
  std::printf("%" PRIu64 " rows, %" PRIu64 " of them fresh, in %" PRIu64 " uses of %" PRIu64
              " batches: %.0f rows/s; %s\n",
              rows, fresh, stats.uses, stats.batches, static_cast<double>(rows) / took.count(),
              path_of(stats.path));
  std::printf("copied %.3f GB at %.2f GB/s while copying; the stream waited %.1f %% of the time\n",
              static_cast<double>(stats.copied_bytes) * 1e-9,
              stats.copy_ns > 0
                  ? static_cast<double>(stats.copied_bytes) / static_cast<double>(stats.copy_ns)
                  : 0,
              stats.span_ns > 0
                  ? 100.0 * static_cast<double>(stats.wait_ns) / static_cast<double>(stats.span_ns)
                  : 0);
  return 0;
} catch (const echoline::Error& error) {
  std::fprintf(stderr, "gpu_rate: %s\n", error.what());
  return 1;
}
