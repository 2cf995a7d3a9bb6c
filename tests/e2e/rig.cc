#include "e2e/rig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>

#include "config/load.h"
#include "echoline/shm/door.h"

namespace echoline::e2e {
namespace {

void write_member(std::ofstream& out, const std::string& name, const std::string& bytes) {
  std::array<char, 512> header{};
  std::snprintf(header.data(), 100, "%s", name.c_str());
  std::snprintf(header.data() + 100, 8, "%07o", 0644U);
  std::snprintf(header.data() + 108, 8, "%07o", 0U);
  std::snprintf(header.data() + 116, 8, "%07o", 0U);
  std::snprintf(header.data() + 124, 12, "%011zo", bytes.size());
  std::snprintf(header.data() + 136, 12, "%011o", 0U);
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar\00000", 8);
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  out.write(header.data(), header.size());
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::size_t padding = (512 - bytes.size() % 512) % 512;
  out.write(std::string(padding, '\0').data(), static_cast<std::streamsize>(padding));
}

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "echoline-e2e-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_tar(const fs::path& path, const ShardFile& shard, std::uint64_t first_record) {
  std::ofstream out(path, std::ios::binary);
  std::uint64_t record = first_record;
  for (const auto& files : shard.records) {
    char key[32];
    std::snprintf(key, sizeof key, "r%06llu", static_cast<unsigned long long>(record++));
    for (const auto& [extension, bytes] : files) {
      write_member(out, std::string(key) + "." + extension, bytes);
    }
  }
  out << std::string(1024, '\0');
}

ShardFile numbered_records(std::uint64_t first, std::uint64_t count, std::uint32_t side) {
  ShardFile shard;
  for (std::uint64_t record = first; record < first + count; ++record) {
    std::string pixels(std::size_t{side} * side, '\0');
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = static_cast<char>((record * 131 + i * 7 + i * i) % 251);
    }
    shard.records.push_back({{"u8", pixels}, {"cls", std::to_string(record)}});
  }
  return shard;
}

Rig::Rig(const RigOptions& options) : options_(options) {
  fs::create_directory(runtime_dir());
  for (std::uint64_t shard = 0; shard < options_.shards; ++shard) {
    const std::uint64_t first = shard * options_.records_per_shard;
    write_tar(shard_path(shard), numbered_records(first, options_.records_per_shard, options_.side),
              first);
  }
  start();
}

Rig::~Rig() { stop(); }

fs::path Rig::shard_path(std::uint64_t shard) const {
  return folder_.path() / ("shard-" + std::to_string(shard) + ".tar");
}

void Rig::start() {
  auto config = config::parse_config(
      "daemon: {memory: " + options_.memory + ", workers: " + std::to_string(options_.workers) +
          ", reattach_grace: " + options_.reattach_grace + ", runtime_dir: " + runtime_dir() +
          ", state_dir: " + (folder_.path() / "state").string() +
          (options_.etcd.empty() ? "" : ", etcd: {endpoints: ['" + options_.etcd + "']}") +
          "}\nstreams: {}\n",
      "test");
  ASSERT_TRUE(config.ok()) << config.status().message();
  fs::create_directories(folder_.path() / "state");
  auto engine = engine::Engine::create(config->daemon());
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  engine_ = std::move(engine).value();
  for (const auto& [name, yaml] : streams_) {
    auto parsed = config::parse_config(yaml, "test");
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    const Status status = engine_->create_stream(name, parsed->streams().at(name), {});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  auto door = serve::Door::open(runtime_dir() + "/door.sock", *engine_);
  ASSERT_TRUE(door.ok()) << door.status().message();
  door_ = std::move(door).value();
}

void Rig::stop() {
  // The order of the daemon: stop all writes first, then disconnect the trainers.
  if (engine_ != nullptr) engine_->drain(std::chrono::milliseconds(0));
  door_.reset();
  engine_.reset();
}

void Rig::restart() {
  stop();
  start();
}

Status Rig::create(const std::string& stream, const std::string& steps,
                   const std::string& stream_keys, const std::string& read_keys) {
  return create_whole(stream,
                      "      - read: {url: \"" + (folder_.path() / "shard-*.tar").string() +
                          "\", format: webdataset" + read_keys + "}\n" + steps,
                      stream_keys);
}

Status Rig::create_whole(const std::string& stream, const std::string& pipeline,
                         const std::string& stream_keys) {
  std::string yaml = "streams:\n  " + stream + ":\n";
  if (!stream_keys.starts_with("seed:")) yaml += "    seed: 7\n";
  if (!stream_keys.empty()) yaml += "    " + stream_keys + "\n";
  yaml += "    pipeline:\n" + pipeline;
  auto parsed = config::parse_config(yaml, "test");
  if (!parsed.ok()) return parsed.status();
  Status status = engine_->create_stream(stream, parsed->streams().at(stream), {});
  if (status.ok()) streams_[stream] = yaml;
  return status;
}

Loader Rig::attach(const std::string& stream, LoaderOptions options) const {
  options.runtime_dir = runtime_dir();
  return Loader(stream, options);
}

Status Rig::attach_as(std::uint32_t layout_minor, std::uint64_t connection,
                      const std::string& stream) {
  shm::AttachRequest request{};
  request.layout_major = shm::kLayoutMajor;
  request.layout_minor = layout_minor;
  stream.copy(request.stream, sizeof(request.stream) - 1);
  std::strcpy(request.job, "old");
  request.world_size = 1;
  request.join = shm::kJoinStart;
  Peer peer;
  peer.uid = ::geteuid();
  peer.pid = ::getpid();
  std::promise<Status> answer;
  engine_->attach(connection, request, peer, [&](const Result<engine::Attachment>& attachment) {
    answer.set_value(attachment.status());
  });
  return answer.get_future().get();
}

void append_rows(const Batch& batch, std::vector<SeenRow>& rows) {
  const std::span<const std::uint8_t> pixels = batch.tensor<std::uint8_t>("image");
  const std::span<const std::int64_t> labels = batch.tensor<std::int64_t>("label");
  const std::size_t row_bytes = pixels.size() / batch.rows();
  for (std::size_t row = 0; row < batch.valid_rows(); ++row) {
    rows.push_back({batch.epoch(), batch.sample_ids()[row], batch.uses()[row],
                    batch.row_flags()[row], hash_of(pixels.subspan(row * row_bytes, row_bytes)),
                    labels[row]});
  }
}

std::vector<SeenRow> read_batches(Loader& loader, std::uint64_t batches) {
  std::vector<SeenRow> rows;
  while (batches > 0) {
    const std::optional<Batch> batch = loader.next();
    if (!batch.has_value()) continue;
    append_rows(*batch, rows);
    --batches;
  }
  return rows;
}

std::vector<SeenRow> read_epochs(Loader& loader, std::uint32_t epochs) {
  std::vector<SeenRow> rows;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    for (const Batch& batch : loader.epoch()) append_rows(batch, rows);
  }
  return rows;
}

}  // namespace echoline::e2e
