// Example trainer: learns Fashion-MNIST from a stream of an Echoline daemon. Prints how long it
// took, how much fresh data it used, and how much of the time it waited.
#include <chrono>
#include <cstdio>
#include <echoline/echoline.hpp>
#include <exception>
#include <span>

#include "idx.h"
#include "mlp.h"
#include "options.h"
#include "progress.h"

namespace {

using example::LabelledImages;
using example::Mlp;
using example::Options;
using example::Progress;

constexpr int kBatchMax = 4096;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Exit code 0 if the target was reached or the rate was measured.
int train(const Options& options, const LabelledImages& test) {
  Progress progress(options);
  Mlp model(options.seed, kBatchMax);
  echoline::Loader loader(options.stream, {.runtime_dir = options.runtime_dir});
  int step = 0;
  for (int epoch = 0; epoch < options.max_epochs && !progress.ended(); ++epoch) {
    Stopwatch waiting;
    for (const echoline::Batch& batch : loader.epoch()) {
      const std::span<const std::int64_t> labels = batch.tensor<std::int64_t>("label");
      progress.count_batch(labels.size(), batch.fresh(), waiting.seconds());
      model.train(batch.tensor<std::uint8_t>("image"), labels,
                  static_cast<float>(options.learning_rate), static_cast<float>(options.momentum));
      const bool due = ++step % options.evaluate_every == 0;
      if (due && progress.record_score(model.evaluate(test.pixels, test.labels))) break;
      waiting = Stopwatch();
    }
  }
  progress.finish();
  return progress.ended() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = example::parse_options(argc, argv);
  try {
    const LabelledImages test = example::read_idx(options.test_images, options.test_labels);
    return train(options, test);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_fashion_mnist: %s\n", error.what());
    return 1;
  }
}
