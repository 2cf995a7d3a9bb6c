// A 128-bit integer for products that 64 bits can't hold.
#pragma once

namespace echoline::client {

__extension__ typedef unsigned __int128 Wide;

}  // namespace echoline::client
