// Decodes a record with one file, with a decoder whose settings are text.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "decode/decoder.h"
#include "decode/made_images.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {

// `entry` is for example "key: 'jpg' as: 'rgb'"; the name of the field is "value".
inline v1::Decode decode_step(const std::string& entry) {
  v1::Decode step;
  const std::string text = "fields { key: 'value' value { " + entry + " } }";
  if (!google::protobuf::TextFormat::ParseFromString(text, &step)) ADD_FAILURE() << text;
  return step;
}

inline std::unique_ptr<Decoder> decoder_of(const std::string& entry) {
  auto decoder = Decoder::compile(decode_step(entry));
  EXPECT_TRUE(decoder.ok()) << decoder.status().message();
  return std::move(decoder).value();
}

// Reuses its scratch and sample from file to file.
class OneField {
 public:
  explicit OneField(const std::string& entry)
      : decoder_(decoder_of(entry)), scratch_(decoder_->make_scratch()) {}

  Status decode(const std::string& file, const std::string& extension) {
    file_ = file;  // the sample may borrow its bytes
    record_.fields.clear();
    record_.fields.push_back({extension, bytes_of(file_)});
    return decoder_->decode(record_, *scratch_, sample_);
  }

  const FieldType& type() const { return decoder_->fields()[0]; }
  const Tensor& tensor() const { return sample_.tensors[0]; }
  std::string bytes() const {
    const std::span<const std::byte> content = tensor().content();
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }
  template <typename T>
  T number() const {
    T value{};
    EXPECT_EQ(tensor().content().size(), sizeof value);
    std::memcpy(&value, tensor().content().data(), sizeof value);
    return value;
  }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Scratch> scratch_;
  std::string file_;
  record::Fields record_;
  Sample sample_;
};

}  // namespace echoline::decode
