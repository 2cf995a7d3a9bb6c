// The options of the example trainer.
#pragma once

#include <cstdint>
#include <string>

namespace example {

struct Options {
  std::string stream = "train";
  std::string runtime_dir;  // empty: the default of the client library
  std::string test_images;  // IDX files of the test set, unpacked
  std::string test_labels;
  std::string csv;  // empty: no file
  double learning_rate = 0.024;
  double momentum = 0.9;
  double target = 0.50;   // test cross-entropy at which training ends
  double clock_from = 0;  // Unix time in seconds from which time is counted; 0: from the start
  std::uint64_t seed = 1;
  int max_epochs = 60;
  int evaluate_every = 150;  // batches
  bool json = false;
  bool measure_rate = false;
};

// Prints the usage and ends the process for --help; ends it with exit code 2 for invalid arguments.
Options parse_options(int argc, char** argv);

}  // namespace example
