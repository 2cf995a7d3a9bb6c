#include "simulation/sim_data.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/crc.h"

namespace echoline::simulation {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

}  // namespace

void write_field(std::uint64_t record, std::byte* out) {
  for (std::size_t i = 0; i < kFieldBytes; i += sizeof(record)) {
    std::memcpy(out + i, &record, sizeof(record));
  }
}

SimIndex::SimIndex(Dice& dice, const std::vector<std::uint64_t>& shard_records,
                   bool with_checksums) {
  for (const std::uint64_t count : shard_records) {
    record::Shard shard;
    shard.first_record = extents_.size();
    shard.record_count = count;
    shard.object.url = "sim:" + std::to_string(shards_.size());
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      bytes.resize(bytes.size() + dice.between(0, 3) * 7);  // a gap
      const std::uint64_t record = extents_.size();
      const std::uint64_t offset = bytes.size();
      const std::uint64_t length = kFieldBytes + dice.between(0, kRestBytesMax);
      bytes.resize(offset + length, rest_of(record));
      write_field(record, bytes.data() + offset);
      extents_.push_back({static_cast<std::uint32_t>(shards_.size()), offset, length});
      if (with_checksums) {
        checksums_.push_back(
            std::max(1U, crc32c(0, std::span<const std::byte>(bytes).subspan(offset, length))));
      }
      bytes_max_ = std::max(bytes_max_, length);
      bytes_total_ += length;
    }
    shard.object.bytes = bytes.size();
    shards_.push_back(shard);
    shard_bytes_.push_back(std::move(bytes));
  }
}

std::uint32_t SimIndex::checksum(std::uint64_t record) const {
  return checksums_.empty() ? 0 : checksums_[record];
}

void SimIndex::read(std::uint32_t shard, std::uint64_t offset, std::span<std::byte> out) const {
  std::copy_n(shard_bytes_[shard].begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
              out.begin());
}

Status SimDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                       record::Fields& fields) const {
  fields.fields.clear();
  fields.fields.push_back({"data", bytes.first(kFieldBytes - (bad_[record] ? 1 : 0))});
  fields.fields.push_back({"rest", bytes.subspan(kFieldBytes)});
  return {};
}

void SimSource::submit(source::ReadRequest request) {
  std::uint64_t delay_ns = dice_.between(0, 30) * kMs;
  if (dice_.chance(faults_.late)) delay_ns = dice_.between(1000, 3000) * kMs;
  flights_.push_back({std::move(request), monotonic_ns() + delay_ns});
}

void SimSource::poll(std::uint64_t, std::vector<source::ReadResult>& done) {
  const std::uint64_t now_ns = monotonic_ns();
  for (std::size_t i = 0; i < flights_.size();) {
    if (flights_[i].due_ns > now_ns) {
      ++i;
      continue;
    }
    const source::ReadRequest& request = flights_[i].request;
    source::ReadResult& result = done.emplace_back();
    result.tag = request.tag;
    result.status = answer(request);
    for (const source::Segment& segment : request.segments) {
      if (request.with_checksums) result.checksums.push_back(crc32c(0, segment.destination));
    }
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Status SimSource::answer(const source::ReadRequest& request) {
  const auto shard = static_cast<std::uint32_t>(std::stoul(request.object.url.substr(4)));
  for (const source::Segment& segment : request.segments) {
    index_.read(shard, segment.offset, segment.destination);
  }
  if (dice_.chance(faults_.unavailable)) {
    ++failures_;
    return Status(Code::kUnavailable, "simulated: away");
  }
  if (index_.has_checksums() && faults_.flips_left > 0 && dice_.chance(5)) {
    --faults_.flips_left;
    ++failures_;
    const auto& bytes = request.segments[dice_.between(0, request.segments.size() - 1)].destination;
    bytes[dice_.between(0, bytes.size() - 1)] ^= std::byte{1};
  }
  return {};
}

}  // namespace echoline::simulation
