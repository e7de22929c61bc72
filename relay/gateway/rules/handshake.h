// Says which side answers the SYN of a connection, the gateway or its server, and why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Handshake {
  enum class Cause : std::uint8_t {
    kRule,            // the rule says so, or nothing speaks against its `local`
    kServiceRefused,  // the service refused, or did not answer, the latest connection
    kServiceUnknown,  // the service has answered no connection for a day, under `auto`
    kFamilySilent,    // no server behind the peer answers by this family of addresses
    kPeerRefused,     // the peer refused this client, or had no room for the server, lately
    kTtlUnknown,      // the answer must have the server's own TTL, under `ttl: preserve`
  };
  config::HandshakeMode mode = config::HandshakeMode::kLocal;  // never kAuto
  Cause cause = Cause::kRule;

  // Whether a cookie may answer the SYN if too many connections are half-open. To wait for the
  // server takes a place among these. So a connection that waits on mere suspicion gets a cookie
  // instead: otherwise the suspicion would have it bridged.
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
