// Maps every IP address to a number that depends only on the prefixes that contain the address.
// Stores the addresses at which the number changes, in order. So a look-up is one binary search,
// even if many prefixes overlap.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/int128.h"

namespace satrelay::gateway {

class AddressSteps {
 public:
  struct Entry {
    IpPrefix prefix;
    std::uint32_t id = 0;
  };
  // The constructor walks through all addresses in ascending order, first IPv4, then IPv6, and
  // calls these functions. value() returns the number for the addresses from here on.
  class Walker {
   public:
    virtual ~Walker() = default;
    virtual void enter(std::uint32_t id) = 0;  // prefix `id` contains the addresses from here on
    virtual void leave(std::uint32_t id) = 0;
    virtual std::uint32_t value() = 0;
  };

  AddressSteps() = default;  // find() returns 0 for every address
  AddressSteps(const std::vector<Entry>& entries, Walker& walker);

  std::uint32_t find(const IpAddress& address) const {
    return address.is_v4() ? v4_.find(static_cast<std::uint32_t>(number_of(address)))
                           : v6_.find(number_of(address));
  }

 private:
  template <typename Number>
  struct Steps {
    std::uint32_t find(Number address) const {
      // Finds the last step at or before the address, without a branch that depends on the data.
      const Number* at = begins.data();
      for (std::size_t left = begins.size(); left > 1;) {
        const std::size_t half = left / 2;
        at = at[half] <= address ? at + half : at;
        left -= half;
      }
      return values[static_cast<std::size_t>(at - begins.data())];
    }
    std::vector<Number> begins{0};  // first addresses of the ranges, in ascending order
    std::vector<std::uint32_t> values{0};
  };

  static Uint128 number_of(const IpAddress& address);
  template <typename Number>
  static Steps<Number> walk(const std::vector<Entry>& entries, IpVersion version, Walker& walker);

  Steps<std::uint32_t> v4_;
  Steps<Uint128> v6_;
};

}  // namespace satrelay::gateway
