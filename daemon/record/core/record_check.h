// Decides whether the bytes of a record are right: by its checksum, or by comparing answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/core/index.h"

namespace echoline::record {

// What is known of a record's bytes before they arrive.
struct KnownChecksum {
  std::uint32_t value = 0;  // CRC-32C; 0: not known
  bool trusted = false;     // Index::trusts_checksums()
};

// What to do with an answer.
enum class AnswerVerdict : std::uint8_t {
  kAgreed,     // use it: it agrees with the known checksum
  kCertain,    // use it and remember its checksum: no other was known
  kReplaced,   // use it and remember its checksum: two answers, or the store's checksum
               // of the object, say that the known one is wrong
  kUnchecked,  // use it: there is nothing to compare with
  kRepeat,     // request it again: no checksum is known, and this is the first answer
  kWrong,      // request it again
  kFailed,     // give up: none of the answers was right
};

// The answers to the requests for one record that were not accepted. A record that arrives right
// needs no memory for this.
class RecordAnswers {
 public:
  // Judges the next answer, in which the bytes have the CRC-32C `found`. `checked` and
  // `answers_needed` as in source::ReadResult and source::Source.
  AnswerVerdict judge(const KnownChecksum& known, std::uint32_t answers_needed, std::uint32_t found,
                      bool checked);

 private:
  std::vector<std::uint32_t> found_;
};

// The error after kFailed: kDataLoss with object, offset, key and checksums.
Status wrong_answers(const Index& index, std::uint64_t record, std::uint32_t known,
                     std::uint32_t found);

// Reads one record as often as necessary. Blocks.
Result<std::vector<std::byte>> read_record(const Index& index, std::uint64_t record,
                                           source::Source& source);

}  // namespace echoline::record
