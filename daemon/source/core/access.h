// What a source is opened for, and what a request to a store wants.
#pragma once

namespace echoline::source {

enum class Access { kRead, kWrite };

}  // namespace echoline::source
