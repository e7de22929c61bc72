// How the places for flows are shared. Of flows, half-open ones and, in the arena, memory half is
// kept in equal parts for the configured peers; and no host of this LAN has more than half of what
// the others leave. What is held is never taken back: only new flows are refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "pep/base/equal_parts.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/hosts/lan_hosts.h"

namespace satrelay::gateway {

class FlowQuotas {
 public:
  FlowQuotas(const config::Limits& limits, std::size_t peers, HashKey secret)
      : flows_(limits.flows, peers),
        half_open_(limits.half_open, peers),
        hosts_(limits.flows, secret) {}

  // Of configured peers, by number.
  const EqualParts& flows() const { return flows_; }
  const EqualParts& half_open() const { return half_open_; }
  LanHosts& hosts() { return hosts_; }
  const LanHosts& hosts() const { return hosts_; }
  void set_half_open(std::uint32_t most) { half_open_.resize(most); }

  // Why there is no place for one flow more, where the table has one. What a peer opens within its
  // own part no other can keep from it by having flows with the same host.
  std::optional<Counter> lack(std::size_t peer, const IpAddress& host, Origin origin) const;
  bool may_be_half_open(std::size_t peer, const IpAddress& host) const;
  // How many flows more there is a place for.
  std::uint64_t places_towards(std::size_t peer) const { return flows_.available(peer); }
  std::uint64_t places_of(const IpAddress& host) const;

  void begin(Flow& f, std::size_t peer);
  void end(const Flow& f, std::size_t peer);
  void count_half_open(const Flow& f, std::size_t peer);
  void count_answered(const Flow& f, std::size_t peer);
  // What is stored of the flow's host, and for it, is counted anew: in whole units, as the flow's
  // reserves hold the rest, and of a flow that has very much no more than fits its count.
  void note_stored(Flow& f) {
    const std::uint64_t bytes = f.endpoint.received().stored() + f.endpoint.unacknowledged();
    const auto stored = static_cast<std::uint16_t>(
        std::min<std::uint64_t>(bytes / kUnit, std::numeric_limits<std::uint16_t>::max()));
    if (stored == f.stored) return;
    LanHosts::Host& host = hosts_[f.host];
    host.stored += stored * kUnit;
    host.stored -= f.stored * kUnit;
    f.stored = stored;
  }
  static std::uint64_t stored(const Flow& f) { return f.stored * kUnit; }

 private:
  static constexpr std::uint64_t kUnit = 1024;  // bytes
  EqualParts flows_;
  EqualParts half_open_;
  LanHosts hosts_;
};

}  // namespace satrelay::gateway
