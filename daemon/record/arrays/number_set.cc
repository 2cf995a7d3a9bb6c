#include "record/arrays/array_sets.h"
#include "record/core/fields.h"
#include "record/index/uniform_index.h"

namespace echoline::record {
namespace {

// The same wherever the code is: keys decide on the parts of read.split.
constexpr const char* kName = "python";
constexpr std::uint64_t kNumberBytes = sizeof(std::int64_t);

class NumberSet final : public DataSet {
 public:
  explicit NumberSet(std::uint64_t count)
      : index_({{.object = {.url = kName, .bytes = count * kNumberBytes, .version = {}},
                 .record_count = count,
                 .first_byte = 0,
                 .record_bytes = kNumberBytes,
                 .stride_bytes = kNumberBytes}}) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return kName; }
  bool makes_samples() const override { return true; }
  Status cut(std::uint64_t, std::span<const std::byte> bytes, Fields& fields) const override {
    clear_fields(fields);
    fields.fields.push_back({"index", bytes});
    return {};
  }

 private:
  const UniformIndex index_;
};

}  // namespace

std::unique_ptr<DataSet> make_number_set(std::uint64_t count) {
  return std::make_unique<NumberSet>(count);
}

}  // namespace echoline::record
