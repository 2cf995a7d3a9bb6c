// Settings from outside the configuration: environment variables and small files.
#pragma once

#include <initializer_list>
#include <string>

#include "base/status.h"

namespace echoline::source {

// The first of the variables that is set and not empty; empty if none is.
std::string from_environment(std::initializer_list<const char*> names);

inline std::string from_environment(const char* name) { return from_environment({name}); }

// `configured` if it is not empty, else the result of from_environment.
std::string first_set(const std::string& configured, std::initializer_list<const char*> names);

// A path below the user's home folder; empty if there is none.
std::string in_home(const char* path);

// A whole file of at most 1 MiB. kNotFound if there is none.
Result<std::string> read_text_file(const std::string& path);

bool file_exists(const std::string& path);

}  // namespace echoline::source
