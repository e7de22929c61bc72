// Says which side answers the SYN of a connection, the gateway or the server, and why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Handshake {
  enum class Cause : std::uint8_t {
    kRule,            // the rule demands `remote`, or no cause below applies
    kServiceRefused,  // the service refused the latest connection, or did not answer it
    kServiceUnknown,  // under `auto`: the service has answered no connection for a day
    kFamilySilent,    // no server behind the peer answers with this IP version
    kPeerRefused,     // the peer refused this client, or had no room for the server, lately
    kTtlUnknown,      // under `ttl: preserve`: the answer must have the server's own TTL
  };
  config::HandshakeMode mode = config::HandshakeMode::kLocal;  // never kAuto
  Cause cause = Cause::kRule;

  // Whether a cookie may answer the SYN while the limit of half-open connections is reached. A
  // connection that waits for its server is half-open, so at the limit it would be bridged. But
  // kPeerRefused is only a suspicion, which should not cause bridging. Such a connection gets a
  // cookie.
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
