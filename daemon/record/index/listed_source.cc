// Reads of objects from a stored listing, which may be outdated.
#include "record/index/listed_source.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace echoline::record {
namespace {

bool is_outdated(const Status& status) {
  return status.code() == Code::kFailedPrecondition || status.code() == Code::kNotFound;
}

void remove(const std::string& file) {
  if (file.empty()) return;
  // Without the file, the next start lists again.
  if (::unlink(file.c_str()) == 0) {
    log_info("record", "a file has changed since it was listed: the next start lists again");
  } else if (errno != ENOENT) {
    log_warning("record",
                "a file has changed since it was listed, and the listing cannot be removed: {}",
                errno_status(errno, file).message());
  }
}

}  // namespace

ListedSource::ListedSource(std::unique_ptr<source::Source> inner, StoredListing listing)
    : ForwardingSource(std::move(inner)), listing_(std::move(listing)) {}

void ListedSource::poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) {
  const std::size_t before = done.size();
  inner_->poll(deadline_ns, done);
  for (std::size_t i = before; i < done.size(); ++i) {
    Status& status = done[i].status;
    // Other errors say nothing about the listing.
    if (!is_outdated(status)) continue;
    remove(listing_.file);
    if (listing_.published.empty()) continue;
    status = Status(status.code(), fmt::format("{}; it is listed in {}: write that again with "
                                               "'echoline index --publish'",
                                               status.message(), listing_.published));
  }
}

}  // namespace echoline::record
