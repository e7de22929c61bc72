// The compilers' 128-bit integer, which ISO C++ lacks.
#pragma once

namespace satrelay {

__extension__ using Uint128 = unsigned __int128;

}  // namespace satrelay
