// Size and mtime of a file are compared after each read: bytes of a file that changed since it was
// indexed are never returned.
#include "source/local/file_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/clock.h"
#include "source/core/address.h"
#include "source/local/file_list.h"

namespace echoline::source {
namespace {

// Open descriptors that are kept. Data sets can have more shards than a process may open files.
constexpr std::size_t kFilesMax = 128;
// Per system call; poll checks its deadline between two.
constexpr std::size_t kPieceBytes = 4 << 20;
// Segments in one system call; the kernel allows 1024.
constexpr std::size_t kVectorsMax = 64;

}  // namespace

// An open file of a known version.
class FileSource::File {
 public:
  static Result<std::shared_ptr<File>> open(const ObjectInfo& object) {
    ECHOLINE_ASSIGN(const Address address, parse_address(object.url));
    // O_NOCTTY: a path could be a terminal.
    UniqueFd fd(::open(address.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd) {
      Status status = errno_status(errno, address.path);
      const char* next = status.code() == Code::kPermissionDenied
                             ? "; let the user of this process read it"
                             : "; it was there when it was indexed";
      return Status(status.code(), status.message() + next);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return errno_status(errno, object.url);
    // An object without a version was read before it was indexed: nothing to compare with.
    if (!object.version.empty() && file_version(status) != object.version)
      return changed(object, status);
    return std::make_shared<File>(object, std::move(fd), status);
  }

  File(ObjectInfo object, UniqueFd fd, const struct stat& status)
      : object_(std::move(object)), fd_(std::move(fd)), opened_(status) {}

  // Whether it is still the version that was opened.
  Status check() const {
    struct stat now {};
    if (::fstat(fd_.get(), &now) != 0) return errno_status(errno, object_.url);
    const bool same = now.st_size == opened_.st_size &&
                      now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec;
    return same || object_.version.empty() ? Status() : changed(object_, now);
  }

  const ObjectInfo& object() const { return object_; }
  int fd() const { return fd_.get(); }

 private:
  static Status changed(const ObjectInfo& object, const struct stat& now) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{}: it changed since it was indexed (size and time {} then, {} now); {}",
                    object.url, object.version, file_version(now), kReindexHint));
  }

  const ObjectInfo object_;
  const UniqueFd fd_;
  const struct stat opened_;
};

// One request and its progress.
class FileSource::FileRead {
 public:
  FileRead(ReadRequest request, Result<std::shared_ptr<File>> file)
      : tag_(request.tag), segments_(std::move(request.segments)), opened_(file.status()) {
    // An empty destination would look like the end of the file in step().
    std::erase_if(segments_, [](const Segment& segment) { return segment.destination.empty(); });
    if (file.ok()) file_ = std::move(file).value();
  }

  // Announces all segments to the kernel, so that it reads ahead while earlier requests are copied.
  void announce() const {
    for (std::size_t i = next_; i < segments_.size(); ++i)
      ::posix_fadvise(file_->fd(), static_cast<off_t>(segments_[i].offset),
                      static_cast<off_t>(segments_[i].destination.size()), POSIX_FADV_WILLNEED);
  }

  std::uint64_t tag() const { return tag_; }
  bool done() const { return !opened_.ok() || next_ == segments_.size(); }
  Status last_check() const { return opened_.ok() ? file_->check() : opened_; }

  // The time of all steps.
  std::uint64_t busy_ns() const { return busy_ns_; }

  // Reads one piece with one system call, over as many adjacent segments as fit. done() must be
  // false. `flags`: as for preadv2.
  Result<std::size_t> step(int flags) {
    const std::uint64_t begin_ns = monotonic_ns();
    std::array<iovec, kVectorsMax> vectors;
    const Segment& first = segments_[next_];
    std::uint64_t end = first.offset;
    std::size_t bytes = 0;
    int count = 0;
    // Adjacent segments share one preadv; a gap ends the piece.
    for (std::size_t i = next_;
         i < segments_.size() && static_cast<std::size_t>(count) < kVectorsMax &&
         segments_[i].offset == end && bytes < kPieceBytes;
         ++i) {
      const std::size_t take = std::min(segments_[i].destination.size(), kPieceBytes - bytes);
      vectors[count++] = {segments_[i].destination.data(), take};
      bytes += take;
      end += take;
      // The piece is full within this segment.
      if (take < segments_[i].destination.size()) break;
    }
    // A signal (EINTR) counts as a piece of no bytes: poll calls again.
    const ssize_t got =
        ::preadv2(file_->fd(), vectors.data(), count, static_cast<off_t>(first.offset), flags);
    busy_ns_ += monotonic_ns() - begin_ns;
    if (got < 0)
      return errno == EINTR ? Result<std::size_t>(std::size_t{0})
                            : errno_status(errno, "reading " + file_->object().url);
    if (got == 0) return short_read(first.offset);
    advance(static_cast<std::size_t>(got));
    return static_cast<std::size_t>(got);
  }

 private:
  // The end of the file came too early: it has changed, or the index is wrong.
  Status short_read(std::uint64_t offset) const {
    // A file that changed is the more useful message.
    ECHOLINE_TRY(file_->check());
    return Status(Code::kDataLoss, fmt::format("{}: it ends at byte {}, but more was wanted; index "
                                               "the data set again",
                                               file_->object().url, offset));
  }

  // Removes the bytes that were read from the front of the segments.
  void advance(std::size_t bytes) {
    while (bytes > 0) {
      Segment& segment = segments_[next_];
      const std::size_t taken = std::min(bytes, segment.destination.size());
      segment.offset += taken;
      segment.destination = segment.destination.subspan(taken);
      bytes -= taken;
      if (segment.destination.empty()) ++next_;
    }
  }

  const std::uint64_t tag_;
  std::vector<Segment> segments_;
  std::size_t next_ = 0;
  std::uint64_t busy_ns_ = 0;
  Status opened_;
  std::shared_ptr<File> file_;
};

Result<std::unique_ptr<Source>> FileSource::open(std::size_t concurrency) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return errno_status(errno, "eventfd");
  return std::unique_ptr<Source>(new FileSource(concurrency, std::move(event)));
}

FileSource::FileSource(std::size_t concurrency, UniqueFd event)
    : concurrency_(concurrency), event_(std::move(event)) {}

FileSource::~FileSource() = default;

Result<std::vector<ObjectInfo>> FileSource::list(const std::string& url) {
  ECHOLINE_ASSIGN(const Address address, parse_address(url));
  return list_files(address);
}

Status FileSource::put(const std::string& url, const std::string& bytes) {
  ECHOLINE_ASSIGN(const Address address, parse_address(url));
  return write_file_atomically(address.path, bytes);
}

Result<std::shared_ptr<FileSource::File>> FileSource::file_of(const ObjectInfo& object) {
  if (const auto found = files_by_url_.find(object.url); found != files_by_url_.end()) {
    const auto at = found->second;
    // Without a version nothing says that the file is still the same, so it is opened again.
    // A descriptor is only reused for the version that was checked when it was opened.
    if (!object.version.empty() && (*at)->object().version == object.version) {
      files_.splice(files_.begin(), files_, at);
      return *at;
    }
    files_.erase(at);
    files_by_url_.erase(found);
  }
  ECHOLINE_ASSIGN(std::shared_ptr<File> file, File::open(object));
  files_.push_front(file);
  files_by_url_[object.url] = files_.begin();
  // Reads in progress share ownership of their file, so closing it here is safe.
  if (files_.size() > kFilesMax) {
    files_by_url_.erase(files_.back()->object().url);
    files_.pop_back();
  }
  return file;
}

void FileSource::submit(ReadRequest request) {
  ECHOLINE_CHECK(slots_free() > 0);
  auto file = file_of(request.object);
  reads_.push_back(std::make_unique<FileRead>(std::move(request), std::move(file)));
  SharedCounters::add(counters_.in_flight, 1);
  FileRead& read = *reads_.back();
  if (read.done()) return;
  // What is in the page cache is copied at once: an announcement costs a tenth of its copy. Errors
  // are left to poll; some file systems do not know the flag.
  if (copied_early_ < kPieceBytes) {
    const Result<std::size_t> copied = read.step(RWF_NOWAIT);
    const std::size_t bytes = copied.ok() ? *copied : 0;
    SharedCounters::add(counters_.bytes, bytes);
    copied_early_ += bytes;
  }
  if (!read.done()) read.announce();
}

std::size_t FileSource::slots_free() const {
  return concurrency_ - std::min(concurrency_, reads_.size());
}

void FileSource::poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) {
  copied_early_ = 0;
  const std::size_t before = done.size();
  do {
    // Reads run strictly in order: the kernel reads ahead for the later ones.
    if (reads_.empty()) {
      // Nothing to read: only a wake or the deadline ends this.
      wait(deadline_ns);
      break;
    }
    if (reads_.front()->done()) {
      // Bytes of a file that changed since it was opened are not delivered.
      finish(reads_.front()->last_check(), done);
      continue;
    }
    const Result<std::size_t> bytes = reads_.front()->step(0);
    if (!bytes.ok())
      finish(bytes.status(), done);
    else
      SharedCounters::add(counters_.bytes, *bytes);
    // At least one result, a wake, or the deadline. A deadline in the past still reads one piece.
  } while (done.size() == before && !woken_ && monotonic_ns() < deadline_ns);
  // Empties the event descriptor, so that the next wait does not return at once.
  if (woken_.exchange(false)) {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
  }
}

void FileSource::finish(Status status, std::vector<ReadResult>& done) {
  counters_.end(status.ok());
  // Failed reads would make the store look faster.
  if (status.ok()) counters_.add_latency(reads_.front()->busy_ns());
  done.push_back({reads_.front()->tag(), std::move(status)});
  reads_.pop_front();
}

void FileSource::wait(std::uint64_t deadline_ns) {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  // ppoll has nanoseconds; poll would round the deadline to milliseconds.
  const timespec timeout{
      static_cast<time_t>(std::min<std::uint64_t>(left / 1'000'000'000, 1 << 30)),
      static_cast<long>(left % 1'000'000'000)};
  pollfd event{event_.get(), POLLIN, 0};
  ::ppoll(&event, 1, &timeout, nullptr);
}

void FileSource::wake() {
  // The flag ends the loop in poll, the event ends a wait.
  woken_ = true;
  ::eventfd_write(event_.get(), 1);
}

}  // namespace echoline::source
