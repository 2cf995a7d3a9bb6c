// COCO annotations of one picture, with the event interface of the JSON library: what is not
// needed is never kept.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "decode/annotations.h"
#include "decode/coco_shapes.h"
#include "decode/field.h"

namespace echoline::decode {
namespace {

using Json = nlohmann::json;

// Masks and key points of COCO need five.
constexpr std::size_t kDepthMax = 32;
constexpr std::size_t kNameBytesMax = 256;

class CocoReader final : public nlohmann::json_sax<Json> {
 public:
  CocoReader(std::size_t objects_max, Annotations& out)
      : objects_max_(objects_max), out_(out), shapes_(out) {}

  // Of the file that was read.
  Status status() const {
    if (!status_.ok() || list_depth_ > 0) return status_;
    return {
        Code::kInvalidArgument,
        "the JSON is no list of annotations, and no object with such a list as \"annotations\""};
  }

  bool null() override { return may_be_here() && other({}); }
  bool boolean(bool value) override {
    if (shapes_.reading()) return other({});
    return number(value ? 1 : 0);
  }
  bool number_integer(number_integer_t value) override {
    return set_category(value) && number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return set_category(value) && number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return may_be_here(); }

  bool string(string_t& value) override {
    if (!may_be_here()) return false;
    if (shapes_.reading()) return other(value);
    if (!in_annotation() || key_ != "category_name" || has_id_) return true;
    if (value.size() > kNameBytesMax) return fail("has a category_name that is too long");
    out_.set_name(out_.objects.back(), value);
    named_ = !value.empty();
    return true;
  }

  bool key(string_t& value) override {
    if (shapes_.reading()) shapes_.key(level(), value);
    if (value.size() > kNameBytesMax) value.resize(kNameBytesMax);
    if (depth_ == 1) root_key_ = value;
    if (in_annotation()) key_ = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (!deeper()) return false;
    read_shape(false);
    return !in_annotation() || begin_annotation();
  }
  bool end_object() override {
    const bool complete = !in_annotation() || end_annotation();
    leave();
    return complete;
  }

  bool start_array(std::size_t) override {
    if (!deeper()) return false;
    // Only a list as the root, or the first one of this name in it.
    if (depth_ == 1 || (depth_ == 2 && list_depth_ == 0 && root_key_ == "annotations")) {
      list_depth_ = depth_;
    }
    if (in_list() && depth_ == list_depth_ + 1) return no_object();
    read_shape(true);
    if (in_box_) return no_box();
    in_box_ = in_list() && depth_ == list_depth_ + 2 && key_ == "bbox";
    if (in_box_) corners_ = 0;
    return true;
  }
  bool end_array() override {
    if (std::exchange(in_box_, false) && corners_ != 4) return no_box();
    // Later objects of the root are not in the list.
    if (depth_ == list_depth_) list_ended_ = true;
    leave();
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    status_ = {Code::kDataLoss, fmt::format("no valid JSON from byte {} on", position)};
    return false;
  }

 private:
  bool in_list() const { return list_depth_ > 0 && !list_ended_; }
  // Elements of the list are objects: start_array and may_be_here refuse others.
  bool in_annotation() const { return in_list() && depth_ == list_depth_ + 1; }

  // Of a value in the annotation: 1 for the elements of a list that is the value of a key.
  std::size_t level() const { return depth_ - list_depth_ - 1; }

  // A list or object begins, perhaps one that has a shape or is in one.
  void read_shape(bool list) {
    if (!in_list() || depth_ < list_depth_ + 2) return;
    if (level() == 1) return shapes_.begin(key_, list);
    if (shapes_.reading()) shapes_.deeper(level(), list);
  }
  void leave() {
    if (shapes_.reading() && level() == 1) shapes_.end();
    --depth_;
  }
  bool other(std::string_view text) {
    if (shapes_.reading()) shapes_.other(level(), text);
    return true;
  }

  // For a value that is no object or list.
  bool may_be_here() { return !in_list() || depth_ != list_depth_ || no_object(); }

  bool no_object() {
    status_ = {Code::kInvalidArgument, "the list of annotations has an element that is no object"};
    return false;
  }
  bool no_box() { return fail("has a bbox that is not four numbers"); }

  bool deeper() {
    if (++depth_ <= kDepthMax) return true;
    status_ = {Code::kInvalidArgument, fmt::format("the JSON has more than {} levels", kDepthMax)};
    return false;
  }

  bool fail(std::string_view what) {
    status_ = {Code::kInvalidArgument,
               fmt::format("annotation {} {}", out_.objects.size() - 1, what)};
    return false;
  }

  bool begin_annotation() {
    if (out_.objects.size() == objects_max_) {
      status_ = too_many_objects(objects_max_);
      return false;
    }
    out_.objects.emplace_back();
    key_.clear();
    corners_ = 0;
    named_ = has_id_ = false;
    return true;
  }

  // From [left, top, width, height] to corners.
  bool end_annotation() {
    if (corners_ != 4) return fail("has no bbox");
    if (!named_) return fail("has neither category_id nor category_name");
    std::array<double, 4>& box = out_.objects.back().box;
    box[2] += box[0];
    box[3] += box[1];
    status_ = check_box(box, out_.objects.size() - 1);
    return status_.ok();
  }

  template <typename T>
  bool set_category(T value) {
    if (!in_annotation() || key_ != "category_id") return true;
    out_.set_name(out_.objects.back(), fmt::to_string(value));
    named_ = has_id_ = true;
    return true;
  }

  bool number(double value) {
    if (!may_be_here()) return false;
    if (shapes_.reading()) {
      shapes_.number(level(), value);
      return true;
    }
    if (in_annotation() && key_ == "iscrowd") out_.objects.back().flag = value != 0;
    if (!in_box_) return true;
    if (corners_ == 4) return no_box();
    out_.objects.back().box[corners_++] = value;
    return true;
  }

  const std::size_t objects_max_;
  Annotations& out_;
  CocoShapes shapes_;
  Status status_;
  std::size_t depth_ = 0;
  std::size_t list_depth_ = 0;  // of the list of annotations; 0: not found yet
  bool list_ended_ = false;
  std::string root_key_;
  std::string key_;  // of the value in the annotation
  bool in_box_ = false;
  std::size_t corners_ = 0;
  bool named_ = false;
  bool has_id_ = false;
};

}  // namespace

Status read_coco(std::span<const std::byte> file, std::size_t objects_max, Annotations& out) {
  out.clear();
  CocoReader reader(objects_max, out);
  const auto* text = reinterpret_cast<const char*>(file.data());
  Json::sax_parse(text, text + file.size(), &reader);
  return reader.status();
}

}  // namespace echoline::decode
