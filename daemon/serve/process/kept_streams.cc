// The files are JSON, not binary protobuf: a key that this version does not know must be an error,
// not a step that is silently missing.
#include "serve/process/kept_streams.h"

#include <fmt/core.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"
#include "config/load.h"
#include "echoline/v1/control.pb.h"

namespace echoline::serve {
namespace {

namespace json = google::protobuf::util;

constexpr std::size_t kBytesMax = 1 << 20;  // the limit of a configuration too

Result<v1::CreateStreamRequest> parse(const std::string& path) {
  ECHOLINE_ASSIGN(const std::string text, read_bounded_file(path, kBytesMax));
  v1::CreateStreamRequest kept;
  const auto parsed = json::JsonStringToMessage(text, &kept);
  if (!parsed.ok()) {
    const std::string why(parsed.message());
    // The first line names the place; what follows repeats the input.
    return Status(Code::kInvalidArgument, why.substr(0, why.find('\n')));
  }
  // Completed as a new one is: defaults may have changed since it was kept.
  ECHOLINE_TRY(config::complete_stream(kept.name(), *kept.mutable_stream()));
  return kept;
}

}  // namespace

std::map<std::string, v1::Stream> KeptStreams::load(const v1::Config& config) {
  const MutexLock lock(mutex_);
  std::map<std::string, v1::Stream> streams;
  // A missing folder is no error: nothing was kept yet.
  std::error_code error;
  std::filesystem::directory_iterator files(folder_, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::filesystem::directory_entry& file = *files;
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem();
    if (config.streams().contains(name)) {
      log_warning("serve", "{}: passed over, as the configuration has a stream '{}'",
                  file.path().string(), name);
      continue;
    }
    const Result<v1::CreateStreamRequest> kept = parse(file.path());
    if (!kept.ok()) {
      const std::string why =
          fmt::format("{}: this kept stream cannot be created: {}; delete it, or repair the file",
                      file.path().string(), kept.status().message());
      log_error("serve", "{}", why);
      // Only a valid name can be deleted by a call.
      if (config::check_stream_name(name).ok()) {
        names_.insert(name);
        failures_[name] = why;
      }
      continue;
    }
    // The file name must match the name inside: the temporary file of a crashed write has another.
    if (path_of(kept->name()) != file.path()) continue;
    names_.insert(kept->name());
    streams[kept->name()] = kept->stream();
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    log_error("serve", "{}: the kept streams cannot be read: {}", folder_, error.message());
  }
  return streams;
}

Status KeptStreams::keep(const std::string& name, const v1::Stream& stream) {
  const MutexLock lock(mutex_);
  // The message of CreateStream, because it has name and definition together.
  v1::CreateStreamRequest kept;
  kept.set_name(name);
  *kept.mutable_stream() = stream;
  json::JsonPrintOptions options;
  options.add_whitespace = true;
  // The names of the configuration, so that a person can read and repair the file.
  options.preserve_proto_field_names = true;
  std::string text;
  const auto printed = json::MessageToJsonString(kept, &text, options);
  if (!printed.ok()) return Status(Code::kInternal, std::string(printed.message()));
  // Both: the file's content and its name survive a crash of the host.
  ECHOLINE_TRY(write_file_atomically(path_of(name), text));
  ECHOLINE_TRY(sync_folder(folder_));
  names_.insert(name);
  failures_.erase(name);
  return Status();
}

Result<bool> KeptStreams::remove(const std::string& name) {
  // An invalid name could lead out of the folder ("../").
  ECHOLINE_TRY(config::check_stream_name(name));
  const MutexLock lock(mutex_);
  names_.erase(name);
  failures_.erase(name);
  const std::string path = path_of(name);
  if (::unlink(path.c_str()) != 0) {
    // Not kept, or deleted before.
    if (errno == ENOENT) return false;
    return errno_status(errno, path + ": the kept definition cannot be removed");
  }
  ECHOLINE_TRY(sync_folder(folder_));
  return true;
}

void KeptStreams::set_failed(const std::string& name, const Status& status) {
  const MutexLock lock(mutex_);
  failures_[name] = status.message();
}

std::map<std::string, std::string> KeptStreams::failures() const {
  const MutexLock lock(mutex_);
  return failures_;
}

bool KeptStreams::contains(const std::string& name) const {
  const MutexLock lock(mutex_);
  return names_.contains(name);
}

}  // namespace echoline::serve
