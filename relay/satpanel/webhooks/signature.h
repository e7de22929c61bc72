// The signature of a delivery. It shows the receiver that the sender knows the secret, and when the
// delivery was sent.
#pragma once

#include <string>
#include <string_view>

namespace satrelay::panel {

// HMAC-SHA256 (RFC 2104) of "TIMESTAMP.BODY" in hexadecimal. The timestamp is signed with the body,
// so that an overheard delivery cannot be sent again later with another timestamp.
struct Signed {
  std::string_view timestamp;  // seconds since 1970, decimal
  std::string_view body;
};
std::string sign(std::string_view secret, const Signed& what);

}  // namespace satrelay::panel
