#include "engine/small_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "config/load.h"

namespace echoline::engine {
namespace {

void write_member(std::ofstream& out, const std::string& name, const std::string& bytes) {
  std::array<char, 512> header{};
  std::snprintf(header.data(), 100, "%s", name.c_str());
  std::snprintf(header.data() + 100, 8, "%07o", 0644U);
  std::snprintf(header.data() + 124, 12, "%011zo", bytes.size());
  std::snprintf(header.data() + 136, 12, "%011o", 0U);
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar\00000", 8);
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  out.write(header.data(), header.size());
  out << bytes << std::string((512 - bytes.size() % 512) % 512, '\0');
}

std::filesystem::path new_folder() {
  static std::atomic<int> count{0};
  return std::filesystem::path(testing::TempDir()) /
         ("small-stream-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
}

}  // namespace

SmallStream::SmallStream(const std::string& steps, const std::string& publish,
                         std::uint64_t budget_bytes)
    : budget(budget_bytes), folder_(new_folder()) {
  std::filesystem::create_directories(folder_ / "state");
  std::ofstream tar(folder_ / "records.tar", std::ios::binary);
  for (std::uint64_t record = 0; record < kRecords; ++record) {
    write_member(tar, "r" + std::to_string(1000 + record) + ".cls", std::to_string(record));
  }
  tar << std::string(1024, '\0');
  tar.close();
  const auto config = config::parse_config(
      "streams:\n  train:\n    pipeline:\n      - read: {url: \"" +
          (folder_ / "records.tar").string() + "\", format: webdataset}\n" + steps +
          "      - decode: {label: {key: cls, as: int64}}\n"
          "      - batch: {size: 4, last: partial}\n      - publish: {" +
          publish + "}\n",
      "test");
  EXPECT_TRUE(config.ok()) << config.status().message();
  if (config.ok()) definition_ = config->streams().at("train");
}

SmallStream::~SmallStream() {
  // As Stream does: the fetcher's thread must not be the last to drop the core.
  for (const std::shared_ptr<StreamCore>& core : cores_) core->fetchers->stop();
  std::filesystem::remove_all(folder_);
}

OpenedStream SmallStream::open() {
  OpenedStream opened =
      open_stream("train", definition_, {.state_dir = (folder_ / "state").string()}, pool, budget,
                  {}, [](const Status& status) { ADD_FAILURE() << status.message(); })
          .value();
  cores_.push_back(opened.core);
  return opened;
}

std::unique_ptr<Stream> SmallStream::stream(ReattachBarrier barrier) {
  OpenedStream opened = open();
  const std::shared_ptr<StreamCore> core = opened.core;
  auto made = std::make_unique<Stream>(std::move(opened), definition_, 2, std::move(barrier));
  const Status warm =
      made->warm_up(build_pass(core, budget, {.history = OrderHistory(*core->plan)}).value(), 1);
  EXPECT_TRUE(warm.ok()) << warm.message();
  return made;
}

std::shared_ptr<Pass> SmallStream::pass(const std::shared_ptr<StreamCore>& core,
                                        plan::Position start) {
  return build_pass(core, budget, {.start = start, .history = OrderHistory(*core->plan)})
      .value()
      .take();
}

std::vector<TrainerNotice> SmallStream::do_work(Stream& stream, std::uint64_t now_ns) {
  std::vector<TrainerNotice> notices;
  while (true) {
    StreamWork work = stream.take_work();
    notices.insert(notices.end(), work.notices.begin(), work.notices.end());
    for (const std::shared_ptr<Pass>& pass : work.retired) retire_pass(*pass);
    if (work.ended != nullptr) work.ended->stop(shm::kWriterEnded);
    if (!work.build.has_value()) return notices;
    stream.pass_built(build_pass(stream.core(), budget, *work.build), now_ns);
  }
}

AttachCall attach_call(std::uint64_t connection, const std::string& job, Result<Attachment>* answer,
                       std::uint32_t rank, std::uint32_t world_size) {
  AttachCall call;
  call.connection = connection;
  call.peer.uid = ::geteuid();
  call.peer.pid = ::getpid();
  call.request.layout_major = shm::kLayoutMajor;
  call.request.layout_minor = shm::kLayoutMinor;
  std::strcpy(call.request.stream, "train");
  std::strcpy(call.request.job, job.c_str());
  call.request.rank = rank;
  call.request.world_size = world_size;
  call.request.join = shm::kJoinStart;
  call.reply = [answer](Result<Attachment> reply) { *answer = std::move(reply); };
  return call;
}

}  // namespace echoline::engine
