// The records of a part have the form of encode_index, which checks them when they are read.
#include "record/index/scan_journal.h"

#include <xxhash.h>

#include <span>

#include "record/core/text.h"
#include "record/index/packed_values.h"
#include "record/index/stored_index.h"

namespace echoline::record {

ScanJournal::ScanJournal(std::string path) : file_(std::move(path)) {
  file_.load([this](std::span<const std::byte> body) { return load(as_text(body)); });
}

bool ScanJournal::load(std::string_view body) {
  PackedReader reader(body);
  const std::uint64_t sum = reader.number();
  if (!reader.ok() || sum != XXH3_64bits(body.data() + sizeof(sum), body.size() - sizeof(sum))) {
    return false;
  }
  ScanPart part;
  const std::uint64_t first = reader.number();
  part.begin = reader.number();
  part.end = reader.number();
  const bool careful = reader.number() != 0;
  const std::string_view encoded = reader.text();
  part.more = reader.text();
  Result<StoredIndex> index = decode_index(std::as_bytes(std::span(encoded)));
  if (!reader.ok() || !index.ok() || index->shards.size() != 1) return false;
  const source::ObjectInfo& object = index->shards[0].object;
  if (part.begin > part.end || part.end > object.bytes) return false;
  KeptScan& kept = kept_[{object.url, object.version, object.bytes}];
  if (first == 0) kept = {};
  std::uint64_t records = 0;
  for (const ScanPart& before : kept.parts) records += before.records.size();
  const std::uint64_t end = kept.parts.empty() ? 0 : kept.parts.back().end;
  // Another pass over the same shard has kept other parts.
  if (first != records || part.begin != end) return true;
  part.records = std::move(index->records);
  kept.careful |= careful;
  if (part.end > 0) kept.parts.push_back(std::move(part));
  return true;
}

KeptScan ScanJournal::take(const source::ObjectInfo& object) {
  const auto found = kept_.find({object.url, object.version, object.bytes});
  if (found == kept_.end()) return {};
  KeptScan kept = std::move(found->second);
  kept_.erase(found);
  return kept;
}

void ScanJournal::add(const source::ObjectInfo& object, std::size_t first, const ScanPart& part,
                      bool careful) {
  Shard shard;
  shard.object = object;
  shard.record_count = part.records.size();
  PackedWriter values;
  values.put(std::uint64_t{first});
  values.put(part.begin);
  values.put(part.end);
  values.put(std::uint64_t{careful});
  values.put(std::string_view(encode_index({{shard}, part.records})));
  values.put(std::string_view(part.more));
  const std::string body = values.take();
  PackedWriter sum;
  sum.put(std::uint64_t{XXH3_64bits(body.data(), body.size())});
  file_.add(sum.take() + body);
}

void ScanJournal::forget(const source::ObjectInfo& object) {
  if (keeps()) add(object, 0, {}, false);
}

bool ScanKeeper::restore(ShardScan& scan) {
  const KeptScan kept = journal_->take(*object_);
  for (const ScanPart& part : kept.parts) {
    if (!scan.restore(part)) {
      forget();
      return false;
    }
    records_ += part.records.size();
    kept_at_ = part.end;
  }
  careful_ = kept.careful;
  return true;
}

void ScanKeeper::keep(const ShardScan& scan, bool careful, std::uint64_t now_ns) {
  if (object_->bytes < kObjectBytesMin || !journal_->keeps() || scan.done()) return;
  if (kept_ns_ == 0) kept_ns_ = now_ns;
  const bool enough = scan.position() >= kept_at_ + kPartBytes;
  if (now_ns < kept_ns_ + (enough ? kPartNsMin : kPartNsMax)) return;
  const std::size_t complete = scan.complete();
  if (complete <= records_) return;
  const ScanPart part = scan.part(records_, complete);
  journal_->add(*object_, records_, part, careful);
  records_ = complete;
  kept_at_ = part.end;
  kept_ns_ = now_ns;
}

void ScanKeeper::forget() {
  if (records_ > 0) journal_->forget(*object_);
  records_ = kept_at_ = 0;
  careful_ = false;
}

}  // namespace echoline::record
