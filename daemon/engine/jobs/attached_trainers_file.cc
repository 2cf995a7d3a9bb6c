#include "engine/jobs/attached_trainers_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/process.h"
#include "record/core/local_file.h"

namespace echoline::engine {
namespace {

// Bounds what a damaged or foreign file can make the daemon read.
constexpr std::uintmax_t kFileBytesMax = 1 << 20;  // a trainer takes a few hundred

nlohmann::json json_of(const Trainer& trainer) {
  return {{"stream", trainer.stream},
          {"job", trainer.job.name},
          {"world_size", trainer.job.world_size},
          {"batch_size", trainer.job.batch_size},
          {"rank", trainer.rank},
          {"pid", trainer.pid},
          {"begin_ticks", trainer.begin_ticks}};
}

// Throws for a missing member or another type; the caller then ignores the whole file.
Trainer trainer_of(const nlohmann::json& json) {
  return {.stream = json.at("stream"),
          .job = {.name = json.at("job"),
                  .world_size = json.at("world_size"),
                  .batch_size = json.at("batch_size")},
          .rank = json.at("rank"),
          .pid = json.at("pid"),
          .begin_ticks = json.at("begin_ticks")};
}

// The temporary name is always the same: daemons that are killed here leave one file, not many.
Status replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::trunc | std::ios::binary);
  file << text;
  file.close();
  // close() has flushed the stream, so a full disk shows here, before the old file is replaced.
  if (!file) return errno_status(errno, "cannot write " + temporary);
  // Atomic: a reader finds the old file or the new one, never a part.
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return errno_status(errno, "cannot rename " + temporary);
  }
  return {};
}

}  // namespace

bool Trainer::is_alive() const {
  // 0: a trainer in another container, whose process cannot be seen. The begin tells a process from
  // a later one with the same id.
  return pid == 0 || (pid > 0 && begin_ticks != 0 && process_begin(pid) == begin_ticks);
}

AttachedTrainersFile::AttachedTrainersFile(const std::string& folder) {
  if (folder.empty()) return;
  path_ = folder + "/trainers.json";
  std::error_code missing;
  if (std::filesystem::file_size(path_, missing) > kFileBytesMax && !missing) {
    log_warning("engine", "{} is passed over: it is longer than {} bytes", path_, kFileBytesMax);
    return;
  }
  const Result<std::string> text = record::read_file(path_);
  // No file: the first start on this host, or the last daemon had no trainers.
  if (!text.ok()) {
    if (text.status().code() != Code::kNotFound)
      log_warning("engine", "{}", text.status().message());
    return;
  }
  try {
    const auto list = nlohmann::json::parse(text.value());
    std::transform(list.begin(), list.end(), std::back_inserter(before_), trainer_of);
  } catch (const nlohmann::json::exception& error) {
    log_warning("engine", "{} is passed over: {}", path_, error.what());
    // Members before the bad one were taken already: a file that is partly wrong names nobody.
    before_.clear();
  }
}

std::vector<Trainer> AttachedTrainersFile::left_behind(const std::string& stream) const {
  const MutexLock lock(mutex_);
  std::vector<Trainer> living;
  std::copy_if(
      before_.begin(), before_.end(), std::back_inserter(living),
      [&](const Trainer& trainer) { return trainer.stream == stream && trainer.is_alive(); });
  return living;
}

void AttachedTrainersFile::keep(const std::set<std::string>& streams,
                                std::vector<Trainer> trainers) {
  const MutexLock lock(mutex_);
  // These streams have decided about the trainers of the previous daemon; others may still open.
  std::erase_if(before_, [&](const Trainer& trainer) { return streams.contains(trainer.stream); });
  now_ = std::move(trainers);
  write();
}

AttachedTrainersFile::~AttachedTrainersFile() {
  // A trainer that outlives the daemon stays in the file, so that the next daemon waits for it.
  for (auto* trainers : {&before_, &now_}) {
    std::erase_if(*trainers, [](const Trainer& trainer) { return !trainer.is_alive(); });
  }
  write();
}

void AttachedTrainersFile::write() {
  if (path_.empty()) return;
  nlohmann::json list = nlohmann::json::array();
  for (const auto* trainers : {&before_, &now_}) {
    for (const Trainer& trainer : *trainers) list.push_back(json_of(trainer));
  }
  // No trainers: the next daemon has nobody to wait for.
  if (list.empty()) {
    ::unlink(path_.c_str());
    return;
  }
  const Status written = replace_file(path_, list.dump());
  // Logged once per row of failures: this runs each time a trainer comes or leaves.
  if (!written.ok() && !failed_) {
    log_warning("engine", "{}; trainers that come back after a restart will not be awaited",
                written.message());
  }
  failed_ = !written.ok();
}

}  // namespace echoline::engine
