// Times an index pass over tars of a web server: by hops only, by reading through only, or by the
// way that the daemon chooses.
//
//     index_ways URL hops|reading|choice MEGABYTES_PER_S LEVEL
//
// MEGABYTES_PER_S limits the bytes in all, LEVEL is read.checksums. Prints the seconds of the pass,
// without the listing.
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "echoline/v1/config.pb.h"
#include "record/index/index_build.h"
#include "record/tar/webdataset.h"
#include "source/open/open_source.h"

namespace {

using namespace echoline;

v1::Read read_of(const std::string& url, std::uint64_t rate, const std::string& checksums) {
  v1::Read read;
  read.add_url(url);
  read.set_format("webdataset");
  read.set_concurrency(128);
  read.set_timeout(60'000'000'000);
  read.set_stall(15'000'000'000);
  read.set_checksums(checksums);
  read.mutable_throttle()->set_rate(rate);
  return read;
}

Result<double> pass_seconds(const v1::Read& read, std::string_view way) {
  ECHOLINE_ASSIGN(const auto source, source::open_source(read));
  ECHOLINE_ASSIGN(const auto urls, source::expand_braces(read.url(0)));
  ECHOLINE_ASSIGN(const auto shards, source->list_all(urls));
  const record::ScanSpec spec = record::tar_scan_spec();
  record::ScanSettings settings =
      record::scan_settings(read, shards, spec, record::Checksums::kIfRead);
  if (way == "reading") settings.may_hop = false;
  if (way == "hops") settings = {.window_bytes = 4 << 10, .shards_at_once = read.concurrency()};
  record::IndexJournal no_journal("");
  const std::uint64_t begin_ns = monotonic_ns();
  ECHOLINE_TRY(record::build_index(shards, record::KnownTables(shards.size()), spec, *source,
                                   settings, {}, no_journal)
                   .status());
  return static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    fmt::print(stderr, "usage: index_ways URL hops|reading|choice MEGABYTES_PER_S LEVEL\n");
    return 2;
  }
  const auto rate = static_cast<std::uint64_t>(std::atof(words[3]) * 1e6);
  const Result<double> seconds = pass_seconds(read_of(words[1], rate, words[4]), words[2]);
  if (!seconds.ok()) {
    fmt::print(stderr, "{}\n", seconds.status().message());
    return 1;
  }
  fmt::print("{:.2f}\n", *seconds);
}
