// Describes an account that differs from the number that an audit has counted.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::gateway {

inline std::string differ(const char* what, std::uint64_t account, std::uint64_t counted) {
  return std::string(what) + ": account " + std::to_string(account) + ", counted " +
         std::to_string(counted);
}

}  // namespace satrelay::gateway
