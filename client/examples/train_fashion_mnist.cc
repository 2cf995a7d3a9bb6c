// Example trainer: learns Fashion-MNIST from a stream of an Echoline daemon and tells how long it
// took, how much fresh data it used and how much of the time it waited.
#include <algorithm>
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

// Exit code 0 when the target was reached.
int train(const Options& options, const LabelledImages& test) {
  Progress progress(options);
  Mlp model(options.seed, kBatchMax);
  echoline::Loader loader(options.stream, {.runtime_dir = options.runtime_dir});
  int step = 0;
  for (int epoch = 0; epoch < options.max_epochs && !progress.reached(); ++epoch) {
    Stopwatch waiting;
    for (const echoline::Batch& batch : loader.epoch()) {
      const std::span<const std::int64_t> labels = batch.tensor<std::int64_t>("label");
      progress.count_batch(labels.size(), batch.fresh(), waiting.seconds());
      model.train(batch.tensor<std::uint8_t>("image"), labels,
                  static_cast<float>(options.learning_rate), static_cast<float>(options.momentum));
      const bool due = ++step % options.evaluate_every == 0;
      if (due && progress.look(model.evaluate(test.pixels, test.labels))) break;
      waiting = Stopwatch();
    }
  }
  progress.finish();
  return progress.reached() ? 0 : 1;
}

// The loop of train(), its looks at the test set included, on images that are in memory already:
// what a loader that is never waited for would give. The best of several short spells, as others
// use the machine.
int measure_rate(const Options& options, const LabelledImages& set) {
  constexpr int kSpells = 8;
  constexpr int kLooksPerSpell = 2;
  Mlp model(options.seed, kBatchMax);
  const auto size = static_cast<std::size_t>(options.batch_size);
  const std::size_t batches = set.labels.size() / size;
  const int steps = kLooksPerSpell * options.evaluate_every;
  double best = 0;
  for (int spell = 0; spell < kSpells; ++spell) {
    const Stopwatch watch;
    for (int step = 1; step <= steps; ++step) {
      const std::size_t row = static_cast<std::size_t>(step) % batches * size;
      model.train(std::span(set.pixels).subspan(row * Mlp::kInputs, size * Mlp::kInputs),
                  std::span(set.labels).subspan(row, size),
                  static_cast<float>(options.learning_rate), static_cast<float>(options.momentum));
      if (step % options.evaluate_every == 0) model.evaluate(set.pixels, set.labels);
    }
    best = std::max(best, static_cast<double>(steps) * options.batch_size / watch.seconds());
  }
  std::printf("%.0f\n", best);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = example::parse_options(argc, argv);
  try {
    const LabelledImages test = example::read_idx(options.test_images, options.test_labels);
    return options.measure_rate ? measure_rate(options, test) : train(options, test);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_fashion_mnist: %s\n", error.what());
    return 1;
  }
}
