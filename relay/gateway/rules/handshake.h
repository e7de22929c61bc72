// Says which side answers the SYN of a connection, the gateway or the server, and why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Handshake {
  enum class Cause : std::uint8_t {
    kRule,            // the rule demands `remote`, or no other cause applies
    kServiceRefused,  // the service refused the latest connection, or did not answer it
    kServiceUnknown,  // under `auto`: the service has answered no connection for a day
    kFamilySilent,    // no server behind the peer answers with this IP version
    kPeerRefused,     // lately the peer has refused this client, or has had no room for the server
    kTtlUnknown,      // under `ttl: preserve`: the answer must have the server's own TTL
  };
  config::HandshakeMode mode = config::HandshakeMode::kLocal;  // never kAuto
  Cause cause = Cause::kRule;

  // Whether a cookie may answer the SYN while the limit of half-open connections is reached. If the
  // server must answer first, a cookie is not possible, and the connection is bridged. The
  // exception is kPeerRefused: the peer may accept the connection after all, so it gets a cookie.
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
