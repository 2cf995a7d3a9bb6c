// A 128-bit integer for products that may overflow 64 bits.
#pragma once

namespace echoline::client {

__extension__ typedef unsigned __int128 Uint128;

}  // namespace echoline::client
