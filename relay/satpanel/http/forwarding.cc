#include "relay/satpanel/http/forwarding.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace satrelay::panel {
namespace {

// Returns "" if the text is not an address.
std::string usual_form(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  std::array<char, INET6_ADDRSTRLEN> form{};
  // inet_pton() reads up to the first NUL only.
  if (text.find('\0') != std::string::npos) return "";
  if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
      return ::inet_ntop(AF_INET6, &v6, form.data(), form.size());
    }
    // A web server with one socket for both families writes ::ffff:192.0.2.1. All these addresses
    // are in one IPv6 /64, and would count as one client.
    std::memcpy(&v4, v6.s6_addr + 12, sizeof v4);
  } else if (::inet_pton(AF_INET, text.c_str(), &v4) != 1) {
    return "";
  }
  return ::inet_ntop(AF_INET, &v4, form.data(), form.size());
}

}  // namespace

std::optional<ForwardedClient> read_forwarding(std::span<const std::string> addresses,
                                               std::span<const std::string> schemes) {
  if (addresses.size() > 1 || schemes.size() > 1) return std::nullopt;
  ForwardedClient client{.address = kLocalClient};
  if (!addresses.empty()) client.address = usual_form(addresses.front());
  if (client.address.empty()) return std::nullopt;
  if (!schemes.empty()) {
    client.is_https = schemes.front() == "https";
    if (!client.is_https && schemes.front() != "http") return std::nullopt;
  }
  return client;
}

}  // namespace satrelay::panel
