// Steps of a pipeline as text.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "echoline/v1/config.pb.h"

namespace echoline::augment {

// A stream with these steps, each in protobuf's text form.
inline v1::Stream stream_of(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += "pipeline { " + step + " }\n";
  v1::Stream stream;
  if (!google::protobuf::TextFormat::ParseFromString(text, &stream)) ADD_FAILURE() << text;
  return stream;
}

}  // namespace echoline::augment
