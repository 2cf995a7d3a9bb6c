#include "record/index/unpacked_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace echoline::record {
namespace {

// Objects that are unpacked at the same time; requests for others wait.
constexpr std::size_t kUnpackingMax = 4;

}  // namespace

UnpackedFile* UnpackedFiles::use(const std::string& url) {
  const auto found = by_url_.find(url);
  if (found == by_url_.end()) return nullptr;
  // To the front: most recently used.
  files_.splice(files_.begin(), files_, found->second);
  return found->second->get();
}

Status UnpackedFiles::start(const source::ObjectInfo& object, UnpackedForm form) {
  if (form.bytes > options_.bytes_max) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} unpacks to {} bytes, more than read.unpack allows ({}): raise it",
                              object.url, form.bytes, options_.bytes_max));
  }
  const auto unpacking = std::count_if(files_.begin(), files_.end(), [this](const auto& file) {
    return !file->complete() && is_wanted_(*file);
  });
  if (static_cast<std::size_t>(unpacking) >= kUnpackingMax || !make_room(form.bytes)) return {};
  ECHOLINE_ASSIGN(auto file, UnpackedFile::create(options_.folder, object, form));
  bytes_ += form.bytes;
  files_.push_front(std::move(file));
  by_url_[object.url] = files_.begin();
  return {};
}

// Evicts from the end of the list until `bytes` more fit; false if that is not possible now.
bool UnpackedFiles::make_room(std::uint64_t bytes) {
  for (auto file = files_.end(); bytes_ + bytes > options_.bytes_max && file != files_.begin();) {
    --file;
    // A file with reads in flight owns their buffers.
    if (is_wanted_(**file) || (*file)->reading() > 0) continue;
    bytes_ -= (*file)->bytes();
    by_url_.erase((*file)->object().url);
    file = files_.erase(file);
  }
  return bytes_ + bytes <= options_.bytes_max;
}

// Reads in flight write into the buffers of the file, so it must outlive them.
void UnpackedFiles::drop(const UnpackedFile& file) {
  const auto found = by_url_.find(file.object().url);
  const List::iterator at = found->second;
  bytes_ -= file.bytes();
  by_url_.erase(found);
  if (file.reading() > 0) {
    dropped_.splice(dropped_.begin(), files_, at);
  } else {
    files_.erase(at);
  }
}

void UnpackedFiles::free_dropped() {
  std::erase_if(dropped_, [](const auto& file) { return file->reading() == 0; });
}

// An object that was dropped and started again has a new file under the same address.
bool UnpackedFiles::contains(const UnpackedFile& file) const {
  const auto found = by_url_.find(file.object().url);
  return found != by_url_.end() && found->second->get() == &file;
}

}  // namespace echoline::record
