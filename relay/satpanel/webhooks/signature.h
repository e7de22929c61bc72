// Signs a delivery. The signature proves to the receiver that the sender knows the secret, and when
// the delivery was sent.
#pragma once

#include <string>
#include <string_view>

namespace satrelay::panel {

// The text to sign, "TIMESTAMP.BODY". The signature is its HMAC-SHA256 (RFC 2104) in hexadecimal.
// It includes the timestamp, so that an attacker that has captured a delivery cannot send it again
// with a later timestamp.
struct Signed {
  std::string_view timestamp;  // seconds since 1970, decimal
  std::string_view body;
};
std::string sign(std::string_view secret, const Signed& what);

}  // namespace satrelay::panel
