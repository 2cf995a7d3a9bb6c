// Local files. Reads are plain system calls, one bounded piece at a time.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "source/core/counters.h"
#include "source/core/source.h"

namespace echoline::source {

// Threads as Source says. submit() copies what the page cache has, for a piece or two between two
// polls, and announces the rest to the kernel (fadvise), so that it reads ahead for all requests
// while poll copies the first.
class FileSource : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(std::size_t concurrency);
  ~FileSource() override;

  Result<std::vector<ObjectInfo>> list(const std::string& url) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  void wake() override;
  Counters counters() const override { return counters_.snapshot(); }

 private:
  class File;
  class FileRead;

  FileSource(std::size_t concurrency, UniqueFd event);
  // The open file of an object, from files_ or newly opened.
  Result<std::shared_ptr<File>> file_of(const ObjectInfo& object);
  // Sleeps until the deadline or a wake.
  void wait(std::uint64_t deadline_ns);
  // Ends the first read with this status.
  void finish(Status status, std::vector<ReadResult>& done);

  const std::size_t concurrency_;
  const UniqueFd event_;
  std::atomic<bool> woken_{false};
  SharedCounters counters_;
  std::deque<std::unique_ptr<FileRead>> reads_;  // in the order of submission
  std::size_t copied_early_ = 0;                 // bytes that submit() copied since the last poll
  std::list<std::shared_ptr<File>> files_;       // open files, most recently used first
  std::unordered_map<std::string, std::list<std::shared_ptr<File>>::iterator> files_by_url_;
};

}  // namespace echoline::source
