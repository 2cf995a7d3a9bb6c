// Padding rows are listed too; "valid_rows" is the number of rows before them.
#include "cli/batch_line.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <echoline/echoline.hpp>
#include <nlohmann/json.hpp>

namespace echoline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string checksum(const void* data, std::uint64_t bytes) {
  return fmt::format("{:016x}", XXH3_64bits(data, bytes));
}

// The offset of each row's bytes, and the end of the last one.
std::uint64_t row_offset(const echoline_tensor& tensor, std::uint64_t row) {
  return tensor.offsets == nullptr ? row * tensor.row_bytes : tensor.offsets[row];
}

std::string span_checksum(const echoline_tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = row_offset(tensor, begin);
  return checksum(static_cast<const std::byte*>(tensor.data) + from,
                  row_offset(tensor, end) - from);
}

Json row_checksums(const echoline_tensor& tensor) {
  Json list = Json::array();
  for (std::uint64_t row = 0; row < tensor.shape[0]; ++row) {
    list.push_back(span_checksum(tensor, row, row + 1));
  }
  return list;
}

}  // namespace

std::string batch_line(const Batch& batch, const std::vector<std::string>& fields,
                       const std::vector<std::string>& keys, const BatchLineOptions& options) {
  const auto ids = batch.sample_ids();
  const auto uses = batch.uses();
  Json line = {{"epoch", batch.epoch()},
               {"step", batch.step()},
               {"rank", options.rank},
               {"sample_ids", std::vector<std::uint64_t>(ids.begin(), ids.end())},
               {"uses", std::vector<std::uint32_t>(uses.begin(), uses.end())},
               {"fresh", batch.fresh()}};
  if (batch.valid_rows() < batch.rows()) line["valid_rows"] = batch.valid_rows();
  if (!keys.empty()) line["keys"] = keys;
  for (const std::string& field : fields) {
    const echoline_tensor tensor = batch.raw(field.c_str());
    if (options.checksums) line["checksums"][field] = span_checksum(tensor, 0, tensor.shape[0]);
    if (options.row_checksums) line["row_checksums"][field] = row_checksums(tensor);
  }
  return line.dump();
}

}  // namespace echoline::cli
