#include "record/index/unpacked_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace echoline::record {
namespace {

// Files that are unpacked at the same time; requests for others wait.
constexpr std::size_t kUnpackingMax = 4;

}  // namespace

UnpackedFile* UnpackedFiles::use(const UnpackedPart& part) {
  const auto found = by_part_.find(&part);
  if (found == by_part_.end()) return nullptr;
  // To the front: most recently used.
  files_.splice(files_.begin(), files_, found->second);
  return found->second->get();
}

Status UnpackedFiles::start(const source::ObjectInfo& object, const UnpackedPart& part) {
  const std::uint64_t bytes = part.form.bytes;
  if (bytes > options_.bytes_max) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} unpacks to {} bytes, more than read.unpack allows ({}): raise it",
                              object.url, bytes, options_.bytes_max));
  }
  const auto unpacking = std::count_if(
      unfinished_.begin(), unfinished_.end(),
      [this](const UnpackedFile* file) { return !file->complete() && is_wanted_(file->part()); });
  if (static_cast<std::size_t>(unpacking) >= kUnpackingMax || !make_room(bytes)) return {};
  ECHOLINE_ASSIGN(auto file, UnpackedFile::create(options_.folder, object, part));
  if (doubted_.erase(&part) > 0) file->be_careful();
  bytes_ += bytes;
  unfinished_.push_back(file.get());
  files_.push_front(std::move(file));
  by_part_[&part] = files_.begin();
  return {};
}

void UnpackedFiles::forget_complete() {
  std::erase_if(unfinished_, [](const UnpackedFile* file) {
    return file->complete() && file->reading() == 0 && !file->has_landed();
  });
}

// Evicts from the end of the list until `bytes` more fit; false if that is not possible now.
bool UnpackedFiles::make_room(std::uint64_t bytes) {
  const auto fits = [&] {
    return bytes_ + bytes <= options_.bytes_max && files_.size() < kUnpackedFilesMax;
  };
  for (auto file = files_.end(); !fits() && file != files_.begin();) {
    --file;
    // A file with reads in flight owns their buffers.
    if (is_wanted_((*file)->part()) || (*file)->reading() > 0) continue;
    bytes_ -= (*file)->bytes();
    by_part_.erase(&(*file)->part());
    std::erase(unfinished_, file->get());
    file = files_.erase(file);
  }
  return fits();
}

// Reads in flight write into the buffers of the file, so it must outlive them.
void UnpackedFiles::drop(const UnpackedFile& file) {
  const auto found = by_part_.find(&file.part());
  const List::iterator at = found->second;
  bytes_ -= file.bytes();
  by_part_.erase(found);
  std::erase(unfinished_, &file);
  if (file.reading() > 0) {
    dropped_.splice(dropped_.begin(), files_, at);
  } else {
    files_.erase(at);
  }
}

void UnpackedFiles::doubt(const UnpackedPart& part) {
  const UnpackedFile* const file = use(part);
  if (file == nullptr) return;
  doubted_.insert(&part);
  drop(*file);
}

void UnpackedFiles::free_dropped() {
  std::erase_if(dropped_, [](const auto& file) { return file->reading() == 0; });
}

// A part that was dropped and started again has a new file.
bool UnpackedFiles::contains(const UnpackedFile& file) const {
  const auto found = by_part_.find(&file.part());
  return found != by_part_.end() && found->second->get() == &file;
}

}  // namespace echoline::record
