// The file of trusted certificate authorities of this system.
#pragma once

#include <string>

namespace echoline::source {

// Empty if the file that libcurl was built for is there: it is used without being named. Else, as
// for programs that were built on another distribution, the first of the usual files that can be
// read; empty if there is none.
std::string authorities_of_system();

// The same for a library that was built for the file `compiled_in`.
std::string authorities_in_place_of(const std::string& compiled_in);

}  // namespace echoline::source
