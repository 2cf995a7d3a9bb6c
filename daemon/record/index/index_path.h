// Where the state folder keeps the index or the listing of a data set.
#pragma once

#include <string>
#include <string_view>

namespace echoline::v1 {
class Read;
}

namespace echoline::record {

// The name is a hash of what the index depends on: format, endpoint and addresses.
std::string stored_index_path(const v1::Read& read, std::string_view format,
                              const std::string& state_dir);

}  // namespace echoline::record
