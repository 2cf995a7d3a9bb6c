// Lists the objects of a `read` step, in the order that defines sample ids.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::record {

// The objects of one address, after brace expansion.
struct Listed {
  std::string url;  // as written
  std::vector<source::ObjectInfo> objects;
};

// The addresses of a read after brace expansion; folders end with a slash.
Result<std::vector<std::string>> addresses_of(const v1::Read& read);

// One entry per address, as written, with its objects in bytewise order. Sidecar index files are
// left out. kNotFound for an address without objects. Blocks.
Result<std::vector<Listed>> list_all(const v1::Read& read, source::Source& source);

// The objects of all addresses, in order.
std::vector<source::ObjectInfo> flatten(std::vector<Listed> listed);

// Reads [offset, offset + bytes) in pieces, which bounds the memory of the source. kDataLoss for a
// shorter object.
Result<std::vector<std::byte>> read_bytes(source::Source& source, const source::ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes);

// Whether an error of a parser can be the consequence of damaged bytes.
bool may_be_damage(Code code);

// Who finds out that the bytes of an answer are damaged.
enum class DamageFoundBy : std::uint8_t {
  kParser,    // only the parser, so answers are compared where the source needs two equal ones
  kChecksum,  // a checksum in the bytes
};

// Calls `read`, which reads something small and parses it, again while it fails because of the
// bytes and a store's answer may have been damaged: kAnswersMax times in all. Answers that `read`
// has compared (answers_needed() is 2) are parsed once.
template <typename Read>
auto read_parsed(source::Source& source, Read read,
                 DamageFoundBy found_by = DamageFoundBy::kParser) {
  const std::uint32_t needed = source.answers_needed();
  const bool may_be_damaged = needed == 1 || (needed > 1 && found_by == DamageFoundBy::kChecksum);
  const std::uint32_t answers_max = may_be_damaged ? source::kAnswersMax : 1;
  for (std::uint32_t answer = 1;; ++answer) {
    auto result = read();
    if (result.ok() || answer == answers_max || !may_be_damage(result.status().code())) {
      return result;
    }
    source.count_damaged();
  }
}

// Reads a small object as text: a local file, or an object through the source.
Result<std::string> read_text(const std::string& url, source::Source& source);

// Escapes glob characters, so that the address matches only this name.
std::string escape_glob(std::string_view name);

// The last part of a path; slashes at its end are ignored.
std::string_view base_name(std::string_view url);

}  // namespace echoline::record
