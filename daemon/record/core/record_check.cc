// Damage is random, so two equal answers are right. A checksum that was made from one answer of the
// store is worth one answer; a trusted one decides alone.
#include "record/core/record_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/crc.h"
#include "source/core/source.h"

namespace echoline::record {

AnswerVerdict RecordAnswers::judge(const KnownChecksum& known, std::uint32_t answers_needed,
                                   std::uint32_t found, bool checked) {
  const bool is_known = known.value != 0;
  // The ordinary case, and the only one for most records.
  if (is_known && known.value == found) return AnswerVerdict::kAgreed;
  if (!is_known && answers_needed == 0) return AnswerVerdict::kUnchecked;
  // The store's checksum, or an earlier answer with the same bytes.
  const bool certain = checked || std::find(found_.begin(), found_.end(), found) != found_.end();
  if (!is_known && (certain || answers_needed == 1)) return AnswerVerdict::kCertain;
  // Equal answers of a local disk prove nothing.
  const bool may_replace = !known.trusted && answers_needed > 0;
  if (is_known && certain && may_replace) return AnswerVerdict::kReplaced;
  // Kept only now: an accepted answer needs no memory.
  found_.push_back(found);
  if (!is_known && found_.size() == 1) return AnswerVerdict::kRepeat;
  const std::size_t answers_max = known.trusted ? source::kAnswersMax : source::kEqualAnswersMax;
  return found_.size() < answers_max ? AnswerVerdict::kWrong : AnswerVerdict::kFailed;
}

Status wrong_answers(const Index& index, std::uint64_t record, std::uint32_t known,
                     std::uint32_t found) {
  const Extent extent = index.extent(record);
  const source::ObjectInfo object = index.shard(extent.shard).object;
  // No checksum at all: the answers only disagree with each other.
  if (known == 0) return source::never_equal(object, index.begins_at(record), extent.bytes);
  return Status(
      Code::kDataLoss,
      fmt::format(
          "{}: the {} bytes from {} on (record {}) have the CRC-32C {:08x} where the index "
          "has {:08x}, in {} answers: the transfer changes them, or the object or its index "
          "is damaged; compare the object with its origin, and if it is right, make the "
          "index again with `echoline index --checksums`, or set read.checksums: none",
          object.url, extent.bytes, index.begins_at(record), index.key(record), found, known,
          index.trusts_checksums() ? source::kAnswersMax : source::kEqualAnswersMax));
}

Result<std::vector<std::byte>> read_record(const Index& index, std::uint64_t record,
                                           source::Source& source) {
  const Extent extent = index.extent(record);
  const source::ObjectInfo object = index.shard(extent.shard).object;
  // What was learned by an earlier reading is not used here: the record is read once, at the start.
  const KnownChecksum known{index.checksum(record), index.trusts_checksums()};
  RecordAnswers answers;
  while (true) {
    ECHOLINE_ASSIGN(source::Answer answer,
                    source::read_answer(source, object, extent.offset, extent.bytes));
    const std::uint32_t found = crc32c(0, answer.bytes);
    switch (answers.judge(known, source.answers_needed(), found, answer.checked)) {
      case AnswerVerdict::kFailed:
        return wrong_answers(index, record, known.value, found);
      case AnswerVerdict::kWrong:
        source.count_damaged();
        [[fallthrough]];
      case AnswerVerdict::kRepeat:
        // Else the source could answer from a copy that it has kept.
        source.forget(object);
        break;
      default:
        return std::move(answer.bytes);
    }
  }
}

}  // namespace echoline::record
