#include "cli/first_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "augment/chain.h"
#include "augment/hang_watch.h"
#include "augment/row_shapes.h"
#include "config/pipeline.h"
#include "decode/decoder.h"
#include "record/core/fields.h"
#include "record/index/compression.h"
#include "record/index/listing.h"
#include "record/tar/tar_scan.h"
#include "record/tar/webdataset.h"

namespace echoline::cli {
namespace {

// The number that a daemon tries at its start.
constexpr std::size_t kRecordsMax = 8;
constexpr int kWindowsMax = 64;
constexpr std::uint64_t kHeadBytes = 8;
constexpr std::uint64_t kWindowBytes = 128 << 10;

// Without the last record, if the part that was read may end within it.
Result<record::RecordTable> first_records(const source::ObjectInfo& shard, source::Source& source) {
  record::TarScan scan(shard.bytes);
  for (int i = 0; i < kWindowsMax && !scan.done() && scan.table().size() <= kRecordsMax; ++i) {
    const std::uint64_t left = shard.bytes - scan.position();
    const std::uint64_t bytes = std::min(left, std::max(kWindowBytes, scan.needed()));
    ECHOLINE_ASSIGN(const std::vector<std::byte> window,
                    record::read_bytes(source, shard, scan.position(), bytes));
    if (Status taken = scan.take(window); !taken.ok()) {
      return std::move(taken).with_context(shard.url);
    }
  }
  if (scan.done() || scan.table().size() == 0) return scan.take_table();
  record::RecordTable whole;
  whole.append(scan.table(), 0, scan.table().size() - 1);
  return whole;
}

}  // namespace

Result<bool> try_first_record(const v1::Stream& stream, const source::ObjectInfo& shard,
                              source::Source& source) {
  ECHOLINE_ASSIGN(const auto decoder, decode::Decoder::compile(config::decode_step(stream)));
  ECHOLINE_ASSIGN(const auto chain, augment::Chain::compile(stream, decoder->fields()));
  augment::RowShapes shapes(*chain);
  ECHOLINE_ASSIGN(const std::vector<std::byte> head,
                  record::read_bytes(source, shard, 0, std::min(shard.bytes, kHeadBytes)));
  if (!record::compression_of(head).empty()) return false;  // to be unpacked first
  ECHOLINE_ASSIGN(const record::RecordTable records, first_records(shard, source));
  const std::unique_ptr<decode::Scratch> scratch = decoder->make_scratch();
  const std::unique_ptr<augment::Scratch> steps_scratch = chain->make_scratch();
  decode::Sample sample;
  record::Fields fields;
  const augment::HangWatch watch(*chain);
  Status last;
  for (std::size_t i = 0;
       i < std::min(records.size(), kRecordsMax) && !shapes.settled() && !watch.hangs(); ++i) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> bytes,
                    record::read_bytes(source, shard, records.offset[i], records.bytes[i]));
    if (record::has_tar_links(bytes)) continue;  // the files may be anywhere in the shard
    last = record::cut_tar_record(
        {.key = records.key(i), .offset = records.offset[i], .own = bytes}, fields);
    record::add_origin(records.key(i), shard.url, fields);
    if (last.ok()) last = decoder->decode(fields, *scratch, sample);
    if (last.ok()) last = chain->run_prepared(sample, *steps_scratch);
    if (last.ok()) {
      const auto types = chain->outputs_for(sample);
      last = types.status();
      if (last.ok()) ECHOLINE_TRY(shapes.take(types.value()));
    }
    last = std::move(last).with_context(fmt::format("{} in {}", records.key(i), shard.url));
  }
  if (!shapes.types() && !last.ok()) return last;
  return shapes.types().has_value();
}

}  // namespace echoline::cli
