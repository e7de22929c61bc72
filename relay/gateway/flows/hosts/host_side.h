// Chooses the settings of a flow's endpoint: the operator's choices for the gateway's TCP towards
// hosts, and values that follow from the LAN, the memory and the flow.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model/schema.h"
#include "pep/tcp/endpoint.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class HostSide {
 public:
  HostSide(const config::Gateway& config, const MemoryPlan& plan, HashKey secret);

  // Takes the operator's choices for connections that begin from now on.
  void choose(const config::Gateway& config);
  // `receive_limit` is the largest number of the host's bytes that may be stored here.
  tcp::Config config_for(const FlowKey& key, std::uint64_t receive_limit, Instant now) const;
  // The offset of the flow's timestamps: each flow has its own (RFC 7323 section 5.4).
  std::uint32_t timestamp_offset(const FlowKey& key) const;
  // The settings that all endpoints share.
  const std::shared_ptr<const tcp::Profile>& profile() const { return profile_; }

 private:
  HashKey secret_;
  std::uint16_t lan_mtu_;
  std::shared_ptr<const tcp::Profile> profile_;
};

}  // namespace satrelay::gateway
