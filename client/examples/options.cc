// Parses the command line of the example trainer with getopt_long.
#include "options.h"

#include <getopt.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string_view>
#include <vector>

namespace example {
namespace {

constexpr const char* kUsage =
    R"(usage: train_fashion_mnist --test-images FILE --test-labels FILE [options]
Trains a small perceptron on batches from an Echoline daemon until the test loss reaches the target.

  --stream NAME        stream to attach to (train)
  --runtime-dir DIR    the daemon's folder (ECHOLINE_RUNTIME_DIR, else the default)
  --test-images FILE   IDX file of the test images, unpacked
  --test-labels FILE   IDX file of the test labels, unpacked
  --lr X               learning rate (0.024)
  --momentum X         Nesterov momentum (0.9)
  --target X           test cross-entropy to reach (0.50)
  --max-epochs N       stop after this many epochs of the stream (60)
  --evaluate-every N   batches between two evaluations on the test set (150)
  --seed N             seed of the weights (1)
  --clock-from T       count time from this Unix time in seconds, to include a daemon's start
  --csv FILE           write seconds, images, fresh images, loss and accuracy of every evaluation
  --json               end with one line of JSON
  --measure-rate       train for a few seconds; print images per second of training, without waits
  --help               this text
)";

using Setter = std::function<void(Options&, const std::string&)>;

struct Known {
  const char* name;
  bool takes_value;
  Setter set;
};

const std::vector<Known>& known_options() {
  static const std::vector<Known> known = {
      {"stream", true, [](Options& o, const std::string& v) { o.stream = v; }},
      {"runtime-dir", true, [](Options& o, const std::string& v) { o.runtime_dir = v; }},
      {"test-images", true, [](Options& o, const std::string& v) { o.test_images = v; }},
      {"test-labels", true, [](Options& o, const std::string& v) { o.test_labels = v; }},
      {"lr", true, [](Options& o, const std::string& v) { o.learning_rate = std::stod(v); }},
      {"momentum", true, [](Options& o, const std::string& v) { o.momentum = std::stod(v); }},
      {"target", true, [](Options& o, const std::string& v) { o.target = std::stod(v); }},
      {"max-epochs", true, [](Options& o, const std::string& v) { o.max_epochs = std::stoi(v); }},
      {"evaluate-every", true,
       [](Options& o, const std::string& v) { o.evaluate_every = std::stoi(v); }},
      {"seed", true, [](Options& o, const std::string& v) { o.seed = std::stoull(v); }},
      {"clock-from", true, [](Options& o, const std::string& v) { o.clock_from = std::stod(v); }},
      {"csv", true, [](Options& o, const std::string& v) { o.csv = v; }},
      {"json", false, [](Options& o, const std::string&) { o.json = true; }},
      {"measure-rate", false, [](Options& o, const std::string&) { o.measure_rate = true; }},
      {"help", false,
       [](Options&, const std::string&) {
         std::fputs(kUsage, stdout);
         std::exit(0);
       }},
  };
  return known;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "train_fashion_mnist: %s; --help lists the options\n", what.c_str());
  std::exit(2);
}

void apply(const Known& option, const char* value, Options& options) {
  try {
    option.set(options, value == nullptr ? "" : value);
  } catch (const std::exception&) {
    fail("--" + std::string(option.name) + ": '" + value + "' is not a number");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  const std::vector<Known>& known = known_options();
  std::vector<option> table;
  for (const Known& entry : known) {
    table.push_back({entry.name, entry.takes_value ? required_argument : no_argument, nullptr, 0});
  }
  table.push_back({});
  Options options;
  for (int index = 0, code = 0; (code = getopt_long(argc, argv, "", table.data(), &index)) != -1;) {
    if (code == '?') std::exit(2);
    apply(known[static_cast<std::size_t>(index)], optarg, options);
  }
  if (optind < argc) fail("does not know '" + std::string(argv[optind]) + "'");
  if (options.test_images.empty() || options.test_labels.empty()) {
    fail("--test-images and --test-labels are needed");
  }
  if (options.evaluate_every < 1 || options.max_epochs < 1) {
    fail("--evaluate-every and --max-epochs are at least 1");
  }
  return options;
}

}  // namespace example
