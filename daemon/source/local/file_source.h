// Local files. Reads are plain system calls made within poll, a bounded piece at a time.
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

// Threads as Source says. The kernel is told of each range when it is submitted, so that it reads
// ahead for all of them while poll copies for the first.
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
  Result<std::shared_ptr<File>> file_of(const ObjectInfo& object);
  void wait(std::uint64_t deadline_ns);
  void finish(Status status, std::vector<ReadResult>& done);

  const std::size_t concurrency_;
  const UniqueFd event_;
  std::atomic<bool> woken_{false};
  SharedCounters counters_;
  std::deque<std::unique_ptr<FileRead>> reads_;  // first to last submitted
  std::list<std::shared_ptr<File>> files_;       // last used first
  std::unordered_map<std::string, std::list<std::shared_ptr<File>>::iterator> files_by_url_;
};

}  // namespace echoline::source
