// What limits a stream, what other settings would give, and the least remedies, as text, JSON and a
// picture.
#pragma once

#include <string>
#include <vector>

#include "analyze/curves.h"
#include "analyze/model.h"
#include "analyze/remedies.h"
#include "analyze/usefulness.h"
#include "base/status.h"

namespace echoline::analyze {

// One question and its answer.
struct Answer {
  std::string question;   // "workers=4"
  std::string refusal{};  // why this stream has no answer; "": it has one
  Setting setting{};
  Prediction prediction{};
};

struct Analysis {
  std::string stream;
  Measures measures;
  Prediction now;  // the model for the present setting, to be compared with the measured rate
  double factor_cap = 0;  // of the remedies: that of the table, the advised or the present one
  Remedies remedies;
  std::vector<Answer> table;
  std::vector<Answer> what_if;  // the user's own questions
  std::vector<Curve> curves;
  std::vector<TargetTime> targets;  // by factor; empty without a table
};

// `what_if`: each as of parse_what_if, whose error is the refusal of its answer. `table`: as of
// parse_usefulness, or empty. Pure functions.
Analysis analyze(const std::string& stream, const Measures& measures,
                 const std::vector<std::string>& what_if,
                 const std::vector<Usefulness>& table = {});
// The measured rate, relative to that of the model for the present setting; 0 where nothing limits
// the model.
double measured_over_model(const Analysis& analysis);
// Or there is nothing to compare.
bool model_agrees(const Analysis& analysis);
// An error if there are questions, and all of them are refused.
Status refusal_of_all(const Analysis& analysis);
std::string analysis_text(const Analysis& analysis);
std::string analysis_json(const Analysis& analysis);
std::string analysis_svg(const Analysis& analysis);

}  // namespace echoline::analyze
