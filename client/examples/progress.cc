// Counting and printing of a training run.
#include "progress.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <stdexcept>

namespace example {
namespace {

constexpr int kScoresToMeasureRate = 8;

// Unix time in seconds, the clock of --clock-from.
std::chrono::duration<double> now() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace

Progress::Progress(const Options& options)
    : options_(options),
      start_(options.clock_from > 0 ? std::chrono::duration<double>(options.clock_from) : now()),
      on_terminal_(isatty(STDERR_FILENO) == 1) {
  if (options.csv.empty()) return;
  csv_.open(options.csv);
  if (!csv_) throw std::runtime_error(options.csv + ": cannot be written");
  csv_ << "seconds,images,fresh_images,loss,accuracy\n";
}

double Progress::seconds() const { return (now() - start_).count(); }

void Progress::count_batch(std::uint64_t images, std::uint64_t fresh, double waited_seconds) {
  if (batches_ == 0) {
    first_batch_seconds_ = seconds();
    attached_seconds_ = first_batch_seconds_ - waited_seconds;
  }
  ++batches_;
  images_ += images;
  fresh_ += fresh;
  waited_seconds_ += waited_seconds;
}

bool Progress::record_score(const Score& score) {
  score_ = score;
  last_seconds_ = seconds();
  ++scores_;
  ended_ = options_.measure_rate ? scores_ == kScoresToMeasureRate : score.loss <= options_.target;
  if (csv_.is_open()) {
    csv_ << last_seconds_ << ',' << images_ << ',' << fresh_ << ',' << score.loss << ','
         << score.accuracy << '\n';
  }
  if (on_terminal_) show();
  return ended_;
}

void Progress::show() const {
  std::fprintf(stderr,
               "\r  %6.1f s  %7" PRIu64 " images, %6" PRIu64
               " fresh  test loss %.3f  accuracy %4.1f %%  waiting %2.0f %% of the time ",
               last_seconds_, images_, fresh_, score_.loss, 100 * score_.accuracy,
               100 * waited_seconds_ / (last_seconds_ - attached_seconds_));
}

void Progress::finish() const {
  if (on_terminal_) std::fputc('\n', stderr);
  const double training = last_seconds_ - attached_seconds_;
  const double stall_share = training > 0 ? waited_seconds_ / training : 0;
  if (options_.measure_rate) {
    std::printf("%.0f\n", static_cast<double>(images_) / (training - waited_seconds_));
    return;
  }
  if (options_.json) {
    std::printf(
        "{\"reached\": %s, \"seconds\": %.3f, \"first_batch_seconds\": %.3f, "
        "\"training_seconds\": %.3f, \"wait_seconds\": %.3f, \"stall_share\": %.4f, "
        "\"batches\": %" PRIu64 ", \"images\": %" PRIu64 ", \"fresh_images\": %" PRIu64
        ", \"loss\": %.4f, \"accuracy\": %.4f}\n",
        ended_ ? "true" : "false", last_seconds_, first_batch_seconds_, training, waited_seconds_,
        stall_share, batches_, images_, fresh_, score_.loss, score_.accuracy);
    return;
  }
  std::printf("%s test loss %.3f (accuracy %.1f %%) after %.1f s: %" PRIu64 " images, %" PRIu64
              " of them fresh; %.0f %% of the time waiting for data\n",
              ended_ ? "reached" : "stopped at", score_.loss, 100 * score_.accuracy, last_seconds_,
              images_, fresh_, 100 * stall_share);
}

}  // namespace example
