// Who answers the SYN of a connection, the gateway or its server, and why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Handshake {
  enum class Cause : std::uint8_t {
    kRule,            // says so, or nothing speaks against its `local`
    kServiceRefused,  // refused, or did not answer, the latest connection
    kServiceUnknown,  // has answered none for a day, under `auto`
    kFamilySilent,    // no server behind the peer answers by this family of addresses
    kPeerRefused,     // refused this client, or had no room for the server, of late
    kTtlUnknown,      // the answer must have the server's own, under `ttl: preserve`
  };
  config::HandshakeMode mode = config::HandshakeMode::kLocal;  // never kAuto
  Cause cause = Cause::kRule;

  // Whether a cookie answers the SYN if too many connections are half-open. The server cannot
  // answer such a one, as that takes a place; so it would be bridged for a mere suspicion.
  bool allows_cookies() const {
    return mode == config::HandshakeMode::kLocal || cause == Cause::kPeerRefused;
  }
};

constexpr const char* to_string(Handshake::Cause cause) {
  constexpr const char* kNames[] = {"rule",          "service_refused", "service_unknown",
                                    "family_silent", "peer_refused",    "ttl_unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace satrelay::gateway
