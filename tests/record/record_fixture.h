// Folders, files and open data sets for the tests of records.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "record/core/data_set.h"
#include "source/core/source.h"

namespace echoline::record {

// One record as a decoder sees it.
struct CutRecord {
  std::string key;
  std::map<std::string, std::string> fields;
  Status status;  // of the cut

  bool operator==(const CutRecord& other) const {
    return key == other.key && fields == other.fields;
  }
};

// A data set and the source that it reads from.
struct Opened {
  std::unique_ptr<source::Source> source;
  Result<std::unique_ptr<DataSet>> set = Status(Code::kInternal, "not opened");

  CutRecord cut(std::uint64_t record) const;
  std::vector<CutRecord> cut_all() const;
  // Writes the sidecar index; returns the number of files.
  Result<std::uint64_t> publish() const;
};

v1::Read read_of(std::vector<std::string> urls, const std::string& format = "auto");
Opened open(const v1::Read& read, const std::string& state_dir = "",
            const ProgressFunction& progress = {}, Checksums checksums = Checksums::kIfRead);

// Has a temporary folder, which is removed after the test.
class RecordTest : public testing::Test {
 protected:
  RecordTest();
  ~RecordTest() override;

  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  void write(std::string_view name, std::string_view content) const;
  std::string read(std::string_view name) const;
  std::string gzip(const std::string& plain) const;
  // Runs Debian's Python with a script and arguments; the test fails if it fails.
  static void run_python(const std::string& script, const std::vector<std::string>& arguments);

 private:
  std::string folder_;
};

// A ustar member, and the end of an archive.
std::string tar_member(const std::string& name, std::string_view data, char type = '0');
std::string tar_end();

}  // namespace echoline::record
