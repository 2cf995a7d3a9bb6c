// Writes files with streams, not with the code under test.
#include "record_fixture.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "record/open/open_data_set.h"
#include "source/open/open_source.h"

namespace echoline::record {

CutRecord Opened::cut(std::uint64_t record) const {
  const Index& index = (*set)->index();
  const Extent extent = index.extent(record);
  CutRecord cut;
  cut.key = index.key(record);
  const auto bytes =
      source::read_range(*source, index.shards()[extent.shard].object, extent.offset, extent.bytes);
  if (!bytes.ok()) {
    cut.status = bytes.status();
    return cut;
  }
  Fields fields;
  cut.status = (*set)->cut(record, *bytes, fields);
  if (!cut.status.ok()) return cut;
  for (const FieldBytes& field : fields.fields) {
    cut.fields[std::string(field.name)] = {reinterpret_cast<const char*>(field.bytes.data()),
                                           field.bytes.size()};
  }
  return cut;
}

std::vector<CutRecord> Opened::cut_all() const {
  std::vector<CutRecord> all;
  for (std::uint64_t i = 0; i < (*set)->index().record_count(); ++i) all.push_back(cut(i));
  return all;
}

Result<std::uint64_t> Opened::publish() const { return (*set)->publish(*source); }

v1::Read read_of(std::vector<std::string> urls, const std::string& format) {
  v1::Read read;
  for (std::string& url : urls) read.add_url(std::move(url));
  read.set_format(format);
  read.set_concurrency(8);
  read.set_timeout(10'000'000'000);
  return read;
}

Opened open(const v1::Read& read, const std::string& state_dir, const ProgressFunction& progress,
            Checksums checksums) {
  Opened opened;
  auto source = source::open_source(read);
  if (!source.ok()) {
    opened.set = source.status();
    return opened;
  }
  opened.source = std::move(*source);
  opened.set = open_data_set(read, *opened.source, state_dir, progress, {.checksums = checksums});
  if (opened.set.ok()) opened.source = (*opened.set)->reading(std::move(opened.source));
  return opened;
}

RecordTest::RecordTest() {
  std::string name = testing::TempDir() + "/echoline-record-XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) folder_ = name;
}

std::string RecordTest::gzip(const std::string& plain) const {
  gzFile file = gzopen(path("compressed.gz").c_str(), "wb1");
  EXPECT_EQ(gzwrite(file, plain.data(), static_cast<unsigned>(plain.size())),
            static_cast<int>(plain.size()));
  gzclose(file);
  return read("compressed.gz");
}

RecordTest::~RecordTest() {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

void RecordTest::write(std::string_view name, std::string_view content) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  std::ofstream file(path(name), std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  ASSERT_TRUE(file.flush().good()) << name;
}

std::string RecordTest::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void RecordTest::run_python(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"/usr/bin/python3", "-c", script.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execv(argv[0], const_cast<char* const*>(argv.data()));
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "python failed: " << status;
}

std::string tar_member(const std::string& name, std::string_view data, char type) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 8, std::string("0000644\0", 8));
  block.replace(124, 12, fmt::format("{:011o}", data.size()) + '\0');
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 8, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  block.append(data);
  block.append((512 - data.size() % 512) % 512, '\0');
  return block;
}

std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace echoline::record
