// A daemon inside the test's process: an engine and an attach socket in a temporary runtime folder,
// over small generated shards. Trainers attach through the client library, as other processes do.
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

// A temporary folder; its destructor removes it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A ustar archive of records "r000000.u8" (pixels) and "r000000.cls" (the record's number).
// The pixels of a record are [height, width, 1] bytes that depend on position and record.
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
  std::string reattach_grace = "10s";
  std::string etcd = {};  // its address; empty: none
};

class Rig {
 public:
  explicit Rig(const RigOptions& options = {});
  ~Rig();

  // `steps` is the pipeline after `read`, as YAML list items; the seed is 7 unless `stream_keys`
  // sets another one.
  Status create(const std::string& stream, const std::string& steps,
                const std::string& stream_keys = "", const std::string& read_keys = "");
  // The same with the whole pipeline as items of a list.
  Status create_whole(const std::string& stream, const std::string& pipeline,
                      const std::string& stream_keys = "");
  Loader attach(const std::string& stream, LoaderOptions options = {}) const;
  // The engine's answer to a trainer of this process, whose client library has this version of the
  // ring layout. `connection`: a number that no other trainer has; see Engine::withdraw.
  Status attach_as(std::uint32_t layout_minor, std::uint64_t connection, const std::string& stream);

  // Stops engine and attach socket and starts new ones, as a restart of the daemon does.
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

// One row as a trainer gets it.
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
// The rows of the next `batches` batches, also across epochs.
std::vector<SeenRow> read_batches(Loader& loader, std::uint64_t batches);
std::vector<SeenRow> read_epochs(Loader& loader, std::uint32_t epochs);

}  // namespace echoline::e2e
