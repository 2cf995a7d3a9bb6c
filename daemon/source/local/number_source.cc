#include "source/local/number_source.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"

namespace echoline::source {
namespace {

Status no_storage() {
  return Status(Code::kInvalidArgument,
                "a data set in Python (read.python) has no files that could be listed or written");
}

void fill(const Segment& segment) {
  std::int64_t number = static_cast<std::int64_t>(segment.offset / sizeof number);
  ECHOLINE_CHECK(segment.offset % sizeof number == 0);
  ECHOLINE_CHECK(segment.destination.size() % sizeof number == 0);
  for (std::size_t at = 0; at < segment.destination.size(); at += sizeof number, ++number)
    std::memcpy(segment.destination.data() + at, &number, sizeof number);
}

}  // namespace

Result<std::unique_ptr<Source>> NumberSource::open(std::size_t concurrency) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return errno_status(errno, "eventfd");
  return std::unique_ptr<Source>(new NumberSource(concurrency, std::move(event)));
}

Result<std::vector<ObjectInfo>> NumberSource::list(const std::string&) { return no_storage(); }
Status NumberSource::put(const std::string&, const std::string&) { return no_storage(); }

void NumberSource::submit(ReadRequest request) {
  ECHOLINE_CHECK(slots_free() > 0);
  submitted_.push_back(std::move(request));
  SharedCounters::add(counters_.in_flight, 1);
}

void NumberSource::poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) {
  const std::uint64_t now_ns = monotonic_ns();
  // Sleeps only if there is nothing to do. ppoll has nanoseconds.
  const std::uint64_t wait_ns =
      submitted_.empty() && deadline_ns > now_ns ? deadline_ns - now_ns : 0;
  const timespec timeout{
      static_cast<time_t>(std::min<std::uint64_t>(wait_ns / 1'000'000'000, 1 << 30)),
      static_cast<long>(wait_ns % 1'000'000'000)};
  pollfd event{event_.get(), POLLIN, 0};
  if (::ppoll(&event, 1, &timeout, nullptr) > 0) {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
  }
  for (; !submitted_.empty(); submitted_.pop_front()) {
    const ReadRequest& request = submitted_.front();
    for (const Segment& segment : request.segments) {
      fill(segment);
      SharedCounters::add(counters_.bytes, segment.destination.size());
    }
    counters_.end(true);
    done.push_back({request.tag, {}});
  }
}

void NumberSource::wake() { ::eventfd_write(event_.get(), 1); }

}  // namespace echoline::source
