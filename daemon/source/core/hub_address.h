// Addresses on the Hugging Face Hub: datasets/OWNER/NAME@REVISION/path.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// The two parts of an address behind "hf://", as they were written.
struct HubAddress {
  std::string repository;  // "datasets/OWNER/NAME", and "@REVISION" if it has one
  std::string path;        // empty: everything
};

// A revision ends at the next '/', so a '/' in it is written %2F. As in Hugging Face's own library,
// refs/convert/NAME and refs/pr/NUMBER may also be written as they are. kInvalidArgument says what
// is wrong, without the address.
Result<HubAddress> split_hub_address(std::string_view rest);

struct HubRevision {
  std::string name;      // "OWNER/NAME"
  std::string revision;  // as written, so a / may be %2F; "main" if none is written
};

// The parts of HubAddress::repository.
HubRevision hub_revision(std::string_view repository);

// The address of an object without its revision; any other address as it is. With the object's
// version, which is a commit, it identifies the content.
std::string without_revision(const std::string& url);

}  // namespace echoline::source
