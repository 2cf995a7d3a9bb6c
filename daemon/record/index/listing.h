// The objects that the addresses of a `read` step stand for, in the order that sample ids count.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::record {

// What one address, after its braces are expanded, stands for.
struct Listed {
  std::string url;  // as written
  std::vector<source::ObjectInfo> objects;
};

// The addresses of a read with their braces expanded; folders end in a slash.
Result<std::vector<std::string>> addresses_of(const v1::Read& read);

// One entry an address, as written; objects of each sorted bytewise. Index files beside the data
// are left out. kNotFound for an address that nothing matches. Blocks.
Result<std::vector<Listed>> list_all(const v1::Read& read, source::Source& source);

// All of them in a row.
std::vector<source::ObjectInfo> flatten(std::vector<Listed> listed);

// Reads [offset, offset + bytes) in pieces that leave the source's memory bounded; fails for
// objects that are shorter. `what` opens the message.
Result<std::vector<std::byte>> read_bytes(source::Source& source, const source::ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes);

// A whole small object as text: a file of this machine, or whatever the source finds there.
Result<std::string> read_text(const std::string& url, source::Source& source);

// A name as an address that stands for itself alone, whatever glob characters are in it.
std::string escape_glob(std::string_view name);

std::string_view base_name(std::string_view url);

}  // namespace echoline::record
