// Measures a loader on the GPU: its rate compared with a plain loop of pinned copies, copies hidden
// behind work, the stall share, device echo, CPU time. All in the same rounds, one after the other;
// prints medians and goals, and does not fail if a goal is missed.
//   loader_rate [--stream NAME] [--rows 256] [--batches 64] [--rounds 11] [--staged 1] [--device 0]
// Batches come from its own ring_server and have `rows` images of 150,570 bytes; with --stream from
// the daemon in ECHOLINE_RUNTIME_DIR, which must be faster than the link for the goals to be
// meaningful. The work on the trainer's stream is the kernel of class Work. --staged 1 also
// measures the loader with a ring that cannot be registered.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "bench/gpu/feed.h"
#include "bench/gpu/pinned_copies.h"
#include "bench/gpu/work.h"

namespace echoline::gpu {
namespace {

constexpr long kWarmUp = 8;           // batches
constexpr std::uint32_t kFactor = 4;  // of device echo

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

class Bench {
 public:
  Bench(Gpu& gpu, FeedOptions options, long batches)
      : gpu_(gpu), options_(std::move(options)), batches_(batches) {
    const Feed feed(gpu_, options_);
    path_ = path_name(feed.stats().path);
    bytes_ = feed.batch_bytes();
    plain_ = std::make_unique<PinnedCopies>(gpu_, PinnedCopies::Memory::kAllocated, bytes_);
    // A launch takes a quarter of a batch, so that launches add up to nearly the wanted time.
    work_ = std::make_unique<Work>(gpu_, static_cast<std::uint32_t>((options_.rows + 3) / 4));
    plain_->rate(static_cast<int>(kWarmUp));
  }

  void round(bool staged) {
    const double copied = plain_->rate(static_cast<int>(batches_));
    const double copy_seconds = static_cast<double>(bytes_) / copied;
    plain_rate_.push_back(copied / 1e9);
    measure_rate(options_, copied, rate_, share_, cpu_);
    if (staged) {
      FeedOptions options = options_;
      options.staged = true;
      staged_path_ = measure_rate(options, copied, staged_rate_, staged_share_, staged_cpu_);
    }
    measure_overlap(copy_seconds);
    measure_stall(2 * copy_seconds);
  }

  void print() const {
    std::printf("%s, batches of %.1f MB, ring %s\n", gpu_.name().c_str(),
                static_cast<double>(bytes_) / 1e6, path_);
    std::printf("work: launches of the normalise kernel on a quarter of a batch\n");
    std::printf("%-52s %12s   %s\n", "", "figure", "goal");
    line("plain loop of pinned copies, GB/s", median(plain_rate_), "");
    line("loader, GB/s", median(rate_), "");
    line("loader, % of the plain loop", median(share_), "95 or more");
    line("loader, CPU-seconds of the trainer per GB", median(cpu_), "");
    if (!staged_rate_.empty()) {
      std::printf("where the ring is not registered: %s\n", staged_path_);
      line("loader, GB/s", median(staged_rate_), "");
      line("loader, % of the plain loop", median(staged_share_), "");
      line("loader, CPU-seconds of the trainer per GB", median(staged_cpu_), "");
    }
    line("work as long as a copy: copy alone, ms", median(copy_ms_), "");
    line("work as long as a copy: work alone, ms", median(work_ms_), "");
    line("work as long as a copy: period of a batch, ms", median(period_ms_), "");
    line("period, % above the longer of both", median(above_), "5 or less");
    line("work twice as long: stall share, %", median(stall_), "less than 1");
  }

  // The ring_server publishes exactly these batches: then the trainer uses all that the loader
  // copies, and the figures are exact.
  void print_echo(std::uint32_t batches) const {
    std::uint64_t uses[2];
    std::uint64_t copied[2];
    for (const int way : {0, 1}) {
      FeedOptions options = options_;
      options.batches = batches;
      options.echo = way == 0 ? 1 : kFactor;
      Feed feed(gpu_, options);
      feed.take(static_cast<long>(batches) * options.echo);
      const echoline_cuda_stats stats = feed.stats_of(batches);
      uses[way] = stats.uses;
      copied[way] = stats.copied_bytes;
    }
    std::printf("device echo: %llu uses of %.3f GB copied; by %u: %llu uses of %.3f GB\n",
                static_cast<unsigned long long>(uses[0]), gigabytes(copied[0]), kFactor,
                static_cast<unsigned long long>(uses[1]), gigabytes(copied[1]));
    line("device echo by 4, uses of a copied byte",
         static_cast<double>(uses[1]) / static_cast<double>(uses[0]) *
             static_cast<double>(copied[0]) / static_cast<double>(copied[1]),
         "4 exactly");
  }

 private:
  static void line(const char* what, double figure, const char* goal) {
    std::printf("%-52s %12.4f   %s\n", what, figure, goal);
  }

  // Seconds for a batch on the trainer's stream, after the batches that the loader copied ahead.
  double period(Feed& feed, const std::function<void()>& work) const {
    feed.take(kWarmUp, work);
    return gpu_.seconds([&] { feed.take(batches_, work); }) / static_cast<double>(batches_);
  }

  const char* measure_rate(const FeedOptions& options, double plain, std::vector<double>& rates,
                           std::vector<double>& shares, std::vector<double>& cpu) const {
    Feed feed(gpu_, options);
    feed.take(kWarmUp);
    double used = 0;
    const double seconds = gpu_.seconds([&] {
      const double before = cpu_seconds();
      feed.take(batches_);
      used = cpu_seconds() - before;  // before this program waits for the stream
    });
    const std::uint64_t bytes = bytes_ * static_cast<std::uint64_t>(batches_);
    const double rate = static_cast<double>(bytes) / seconds;
    rates.push_back(rate / 1e9);
    shares.push_back(100 * rate / plain);
    cpu.push_back(used / gigabytes(bytes));
    return path_name(feed.stats().path);
  }

  void measure_overlap(double copy_seconds) {
    work_->last(copy_seconds);
    const double work_seconds = work_->alone();
    Feed feed(gpu_, options_);
    const double seconds = period(feed, [this] { work_->enqueue(); });
    copy_ms_.push_back(copy_seconds * 1e3);
    work_ms_.push_back(work_seconds * 1e3);
    period_ms_.push_back(seconds * 1e3);
    above_.push_back(100 * (seconds / std::max(copy_seconds, work_seconds) - 1));
  }

  void measure_stall(double work_seconds) {
    work_->last(work_seconds);
    Feed feed(gpu_, options_);
    period(feed, [this] { work_->enqueue(); });
    const echoline_cuda_stats stats = feed.stats();
    stall_.push_back(100 * static_cast<double>(stats.wait_ns) / static_cast<double>(stats.span_ns));
  }

  Gpu& gpu_;
  const FeedOptions options_;
  const long batches_;
  const char* path_ = "";
  const char* staged_path_ = "";
  std::uint64_t bytes_ = 0;
  std::unique_ptr<PinnedCopies> plain_;
  std::unique_ptr<Work> work_;
  std::vector<double> plain_rate_, rate_, share_, cpu_;
  std::vector<double> staged_rate_, staged_share_, staged_cpu_;
  std::vector<double> copy_ms_, work_ms_, period_ms_, above_, stall_;
};

}  // namespace
}  // namespace echoline::gpu

int main(int count, char** arguments) {
  using namespace echoline::gpu;
  FeedOptions options;
  options.stream = text_option(count, arguments, "stream");
  options.rows = option(count, arguments, "rows", options.rows);
  options.device = static_cast<int>(option(count, arguments, "device", 0));
  const long batches = option(count, arguments, "batches", 64);
  Gpu gpu(options.device);
  Bench bench(gpu, options, batches);
  const bool staged = option(count, arguments, "staged", 0) != 0;
  for (long round = option(count, arguments, "rounds", 11); round > 0; --round) bench.round(staged);
  bench.print();
  if (options.stream.empty()) bench.print_echo(static_cast<std::uint32_t>(batches));
  return 0;
}
