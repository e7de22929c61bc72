// Divides the slots for flows. Half of the flows, half of the half-open flows and (in the arena)
// half of the memory are reserved for the configured peers, in equal parts. A host of this LAN has
// at most half of the amount that the other hosts leave. These limits never end existing flows.
// They only refuse new flows.
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
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class FlowQuotas {
 public:
  FlowQuotas(const config::Limits& limits, std::size_t peers, HashKey secret)
      : flows_(limits.flows, peers),
        half_open_(limits.half_open, peers),
        hosts_(limits.flows, secret) {}

  const EqualParts<FarGatewayId>& flows() const { return flows_; }
  const EqualParts<FarGatewayId>& half_open() const { return half_open_; }
  LanHosts& hosts() { return hosts_; }
  const LanHosts& hosts() const { return hosts_; }
  void set_half_open(std::uint32_t most) { half_open_.resize(most); }

  // Returns why one more flow may not have a slot although the table has a free slot; nullopt if
  // the flow may have one. A peer can always use its own part, even if other peers have many flows
  // with the same host.
  std::optional<Counter> lack(FarGatewayId peer, const IpAddress& host, Origin origin) const;
  bool may_be_half_open(FarGatewayId peer, const IpAddress& host) const;
  // How many more flows may begin with the peer (places_towards()), or with the host (places_of()).
  std::uint64_t places_towards(FarGatewayId peer) const { return flows_.available(peer); }
  std::uint64_t places_of(const IpAddress& host) const;

  void begin(Flow& f, FarGatewayId peer);
  void end(const Flow& f, FarGatewayId peer);
  // Call this when the host of a half-open flow has answered.
  void count_answered(const Flow& f, FarGatewayId peer);
  // Updates the number of bytes that are stored from the flow's host and for it. The number is in
  // whole units of kUnit. A smaller remainder fits into the flow's reserves. The number is limited
  // to the largest value of the field.
  void note_stored(Flow& f) {
    const std::uint64_t bytes =
        f.endpoint.received().stored() + f.endpoint.sending().unacknowledged();
    const auto stored = static_cast<std::uint16_t>(
        std::min<std::uint64_t>(bytes / kUnit, std::numeric_limits<std::uint16_t>::max()));
    if (stored == f.lan.stored) return;
    LanHosts::Host& host = hosts_[f.lan.host];
    host.stored += stored * kUnit;
    host.stored -= f.lan.stored * kUnit;
    f.lan.stored = stored;
  }
  static std::uint64_t stored(const Flow& f) { return f.lan.stored * kUnit; }

 private:
  static constexpr std::uint64_t kUnit = 1024;  // bytes
  EqualParts<FarGatewayId> flows_;
  EqualParts<FarGatewayId> half_open_;
  LanHosts hosts_;
};

}  // namespace satrelay::gateway
