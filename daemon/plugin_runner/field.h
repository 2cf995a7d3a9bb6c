// A field of the samples, as the daemon's settings, the interface of plugins and the daemon's
// messages have it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "echoline/echoline_plugin.h"

namespace echoline::plugin_runner {

struct Field {
  enum class Form : std::uint8_t {
    kFixed,
    kRagged,   // the first size is the largest one
    kPicture,  // [height, width, channels]: only the last size is known
    kAxes      // only the number of sizes is known
  };

  std::string name;
  std::uint32_t dtype = 0;  // of shm::DType
  Form form = Form::kFixed;
  std::vector<std::int64_t> shape;  // 0: a size that is not known

  // Whether an array of a sample can have the shape.
  bool fits(std::span<const std::int64_t> sizes) const;
  // As "uint8 [224, 224, 3]".
  std::string declared() const;
};

// A text such as "[2, -1]".
std::string shape_text(std::span<const std::int64_t> sizes);

// The fields of the daemon's settings, and the same the other way.
std::vector<Field> fields_from(const nlohmann::json& list);
nlohmann::json json_of(const std::vector<Field>& fields);

DLDataType dl_type(std::uint32_t dtype);

// Throws Failure if no step can return such a field.
Field output_from(const echoline_plugin_field& field);

// Fields as a plugin sees them; they have to outlive this.
class FieldViews {
 public:
  explicit FieldViews(const std::vector<Field>& fields);
  FieldViews(const FieldViews&) = delete;
  FieldViews& operator=(const FieldViews&) = delete;

  const echoline_plugin_field* const* list() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<echoline_plugin_field> views_;
  std::vector<const echoline_plugin_field*> pointers_;
};

}  // namespace echoline::plugin_runner
