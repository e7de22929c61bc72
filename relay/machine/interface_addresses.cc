#include "relay/machine/interface_addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "pep/base/address.h"

namespace satrelay::machine {
namespace {

std::string text_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, address, sizeof ipv4);
    std::array<std::uint8_t, 4> octets;
    std::memcpy(octets.data(), &ipv4.sin_addr, octets.size());
    return IpAddress::v4(octets).to_string();
  }
  if (address->sa_family != AF_INET6) return "";
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, address, sizeof ipv6);
  std::array<std::uint8_t, 16> octets;
  std::memcpy(octets.data(), &ipv6.sin6_addr, octets.size());
  const bool is_link_local = octets[0] == 0xfe && (octets[1] & 0xc0U) == 0x80;
  return is_link_local ? "" : IpAddress::v6(octets).to_string();
}

}  // namespace

InterfaceAddresses addresses_of_interfaces() {
  InterfaceAddresses addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const std::string text = text_of(each->ifa_addr);
    if (!text.empty()) addresses[each->ifa_name].push_back(text);
  }
  ::freeifaddrs(list);
  return addresses;
}

}  // namespace satrelay::machine
