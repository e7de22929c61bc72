// What shows a receiver that a delivery comes from who has the secret, and when it was sent.
#pragma once

#include <string>
#include <string_view>

namespace satrelay::panel {

// HMAC-SHA256 (RFC 2104) of "TIMESTAMP.BODY" in hexadecimal. The timestamp is signed with the body,
// so that what was once overheard cannot be sent again later with another one.
struct Signed {
  std::string_view timestamp;  // seconds since 1970, decimal
  std::string_view body;
};
std::string sign(std::string_view secret, const Signed& what);

}  // namespace satrelay::panel
