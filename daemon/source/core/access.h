// What a source is opened for, and what kind of access a request to a store needs.
#pragma once

namespace echoline::source {

enum class Access { kRead, kWrite };

}  // namespace echoline::source
