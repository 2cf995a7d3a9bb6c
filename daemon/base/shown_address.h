// An address as everybody may see it.
#pragma once

#include <string>

namespace echoline {

// Without user, password and query of http://user:password@host/path?query.
std::string shown_address(std::string address);

}  // namespace echoline
