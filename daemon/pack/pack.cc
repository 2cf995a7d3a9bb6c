// Decides the order of records, their names, and where a shard ends.
#include "pack/pack.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "echoline/shm/philox.h"
#include "pack/open_input.h"
#include "pack/pack_input.h"
#include "pack/pack_writer.h"
#include "record/index/stored_index.h"

namespace echoline::cli {
namespace {

namespace fs = std::filesystem;

// The number in the file name of a shard, or nothing for other files.
std::optional<std::uint64_t> shard_number(const std::string& file, const std::string& name) {
  // NAME-000000.tar.
  const std::size_t digits = 6, size = name.size() + 1 + digits + 4;
  if (file.size() != size || !file.starts_with(name + "-") || !file.ends_with(".tar")) {
    return std::nullopt;
  }
  const std::string number = file.substr(name.size() + 1, digits);
  // Other files of this length may have letters there.
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoull(number);
}

// Existing shards of this name with a number of at least `from`.
Result<std::vector<std::string>> existing_shards(const PackOptions& options, std::uint64_t from) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(options.output_dir, error), end; !error && at != end;
       at.increment(error)) {
    const auto number = shard_number(at->path().filename(), options.name);
    if (number && *number >= from) paths.push_back(at->path());
  }
  if (error) return errno_status(error.value(), "cannot list " + options.output_dir);
  // Sorted, so that messages name the first one.
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status prepare_output(const PackOptions& options) {
  if (options.output_dir.empty()) return Status(Code::kInvalidArgument, "name an output folder");
  if (options.name.empty() || options.name.find('/') != std::string::npos) {
    // A '/' would write into another folder.
    return Status(Code::kInvalidArgument, "the shards' name is a file name without folders");
  }
  std::error_code error;
  fs::create_directories(options.output_dir, error);
  if (error) return errno_status(error.value(), "cannot make " + options.output_dir);
  ECHOLINE_ASSIGN(const std::vector<std::string> there, existing_shards(options, 0));
  // With `overwrite`, old shards are replaced one by one.
  if (options.overwrite || there.empty()) return {};
  return Status(
      Code::kAlreadyExists,
      fmt::format("{} is there already: choose another name or folder, or overwrite", there[0]));
}

// Fisher-Yates shuffle with counter-based random numbers, so that a seed gives the same order
// everywhere.
std::vector<std::uint64_t> record_order(std::uint64_t count, const PackOptions& options) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (!options.shuffle) return order;
  const PhiloxKey key = philox_key(options.seed);
  // Draw number `left` decides which record gets this place.
  for (std::uint64_t left = count; left > 1; --left) {
    const PhiloxCounter draw = philox4x32(
        key, {static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(left >> 32), 0, 0});
    const std::uint64_t wide = static_cast<std::uint64_t>(draw[1]) << 32 | draw[0];
    // The remainder of 64 random bits is uneven by less than count / 2^64.
    std::swap(order[left - 1], order[wide % left]);
  }
  return order;
}

class Packer {
 public:
  Packer(const PackOptions& options, const std::function<void(const PackProgress&)>& progress)
      : options_(options), progress_(progress) {}

  Result<PackProgress> run(PackInput& input) {
    done_.records = input.count();
    PackItem item;
    for (const std::uint64_t record : record_order(input.count(), options_)) {
      ECHOLINE_TRY(input.read(record, item));
      ECHOLINE_TRY(add(item));
    }
    ECHOLINE_TRY(close());
    return done_;
  }

 private:
  Status add(const PackItem& item) {
    // Both members, headers included.
    std::uint64_t bytes = ShardWriter::member_bytes(item.data.size());
    if (item.label) bytes += ShardWriter::member_bytes(item.label->size());
    // Before the record, so that no shard exceeds the limit unless one record does.
    if (shard_ && is_full(bytes)) ECHOLINE_TRY(close());
    if (!shard_) ECHOLINE_TRY(open());
    // Numbered over all shards, so that keys are unique in the data set.
    const std::string key = fmt::format("{:08}", done_.records_done);
    shard_->begin(key);
    ECHOLINE_TRY(shard_->add(key + "." + item.extension, item.data));
    if (item.label) ECHOLINE_TRY(shard_->add(key + ".cls", *item.label));
    ++done_.records_done;
    // Not for each record: a progress line costs more than a small record.
    if (progress_ && done_.records_done % 256 == 0) progress_(done_);
    return {};
  }

  bool is_full(std::uint64_t more) const {
    // 0 means no limit.
    const bool bytes =
        options_.shard_bytes_max != 0 && shard_->bytes() + more > options_.shard_bytes_max;
    return bytes || shard_->records() == options_.shard_records_max;
  }

  Status open() {
    const std::string path =
        fmt::format("{}/{}-{:06}.tar", options_.output_dir, options_.name, done_.shards);
    ECHOLINE_ASSIGN(ShardWriter shard, ShardWriter::open(path));
    shard_.emplace(std::move(shard));
    return {};
  }

  Status close() {
    // No record, no shard.
    if (!shard_) return {};
    ECHOLINE_TRY(shard_->close());
    ++done_.shards;
    done_.bytes += shard_->bytes();
    shard_.reset();
    if (progress_) progress_(done_);
    return {};
  }

  const PackOptions& options_;
  const std::function<void(const PackProgress&)>& progress_;
  std::optional<ShardWriter> shard_;
  PackProgress done_;
};

Status remove_leftovers(const PackOptions& options, std::uint64_t shards) {
  ECHOLINE_ASSIGN(const std::vector<std::string> paths, existing_shards(options, shards));
  // Shards of an earlier run with higher numbers.
  for (const std::string& path : paths) {
    std::error_code error;
    // The index first: it must never exist without its shard.
    fs::remove(path + std::string(record::kShardIndexSuffix), error);
    if (!error) fs::remove(path, error);
    if (error) return errno_status(error.value(), "cannot remove " + path);
  }
  return {};
}

}  // namespace

Result<PackProgress> pack(const PackOptions& options,
                          const std::function<void(const PackProgress&)>& progress) {
  ECHOLINE_TRY(prepare_output(options));
  ECHOLINE_ASSIGN(const std::unique_ptr<PackInput> input, open_input(options));
  if (input->count() == 0) {
    return Status(Code::kNotFound, fmt::format("no records in {}", options.inputs.front()));
  }
  auto packed = Packer(options, progress).run(*input);
  if (!packed.ok()) return packed.status().with_context("packing");
  // Last: until now the old shards were complete.
  if (options.overwrite) ECHOLINE_TRY(remove_leftovers(options, packed->shards));
  return packed;
}

}  // namespace echoline::cli
