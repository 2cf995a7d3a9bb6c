// An address as everybody may see it.
#pragma once

#include <string>

namespace echoline {

// Without user, password and query of http://user:password@host/path?query.
std::string shown_address(std::string address);

// The store that has it: scheme and host or bucket, as in s3://photos; "file" for a path.
std::string store_of(const std::string& address);

}  // namespace echoline
