// A whole daemon within the test's process: engine and door on a runtime folder of its own, over
// small shards that the test makes. Trainers attach to it through the client library as any other
// process would.
#pragma once

#include <cstdint>
#include <echoline/echoline.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/engine.h"
#include "serve/door/door.h"

namespace echoline::e2e {

namespace fs = std::filesystem;

// A folder that goes when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A ustar archive of records "r000000.u8" (pixels) and "r000000.cls" (the record's number).
// Pixels of record i: [height, width, 1] bytes that differ from place to place and from record to
// record.
struct ShardFile {
  std::vector<std::vector<std::pair<std::string, std::string>>> records;  // (extension, bytes)
};
void write_tar(const fs::path& path, const ShardFile& shard, std::uint64_t first_record);
ShardFile numbered_records(std::uint64_t first, std::uint64_t count, std::uint32_t side);

struct RigOptions {
  std::uint64_t shards = 3;
  std::uint64_t records_per_shard = 20;
  std::uint32_t side = 8;
  std::string memory = "64MiB";
  std::uint32_t workers = 2;
};

class Rig {
 public:
  explicit Rig(const RigOptions& options = {});
  ~Rig();

  // `steps` is the pipeline below `read`, as YAML list items; the seed is 7 but for other
  // `stream_keys`.
  Status create(const std::string& stream, const std::string& steps,
                const std::string& stream_keys = "", const std::string& read_keys = "");
  Loader attach(const std::string& stream, LoaderOptions options = {}) const;

  // Engine and door end and begin anew, as a restarted daemon does.
  void restart();
  void stop();
  void start();

  engine::Engine& engine() { return *engine_; }
  fs::path shard_path(std::uint64_t shard) const;
  std::uint64_t record_count() const { return options_.shards * options_.records_per_shard; }
  std::string runtime_dir() const { return folder_.path() / "run"; }
  const fs::path& folder() const { return folder_.path(); }

 private:
  const RigOptions options_;
  TemporaryFolder folder_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<serve::Door> door_;
  std::map<std::string, std::string> streams_;  // name to YAML, for restart
};

// What a trainer saw of one row.
struct SeenRow {
  std::uint32_t epoch;
  std::uint64_t sample;
  std::uint32_t use;
  std::uint32_t flags;
  std::uint64_t pixels;  // hash of the image
  std::int64_t label;
  bool operator==(const SeenRow&) const = default;
};
void append_rows(const Batch& batch, std::vector<SeenRow>& rows);
// Rows of the next `batches` batches; stops at nothing but the count.
std::vector<SeenRow> read_batches(Loader& loader, std::uint64_t batches);
std::vector<SeenRow> read_epochs(Loader& loader, std::uint32_t epochs);

}  // namespace echoline::e2e
