// What other libraries make of one signal: golden/make_golden.py writes it.
#pragma once

#include <string>
#include <vector>

namespace echoline::audio {

// A tone whose loudness changes, and noise: 3000 samples of rate 8000.
std::vector<float> golden_signal();

// Expects the values of the case `name`, with differences up to `bound`.
void expect_golden(const std::vector<float>& made, const std::string& name, float bound);

}  // namespace echoline::audio
