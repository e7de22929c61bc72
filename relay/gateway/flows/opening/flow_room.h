// Tells whether there is room for one more flow, and who answers its SYN.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/opening/flow_capacity.h"

namespace satrelay::gateway {

class FlowRoom final : public FlowCapacity {
 public:
  // `parts` must outlive it.
  explicit FlowRoom(const RelayParts& parts) : parts_(parts) {}

  std::optional<Counter> lack_of_room(std::size_t peer, const IpAddress& host) const override;
  bool may_be_half_open(std::size_t peer, const IpAddress& host) const override {
    return parts_.quotas.may_be_half_open(parts_.configured(peer), host);
  }
  Places places(std::size_t peer, const IpAddress& host) const override;
  Handshake handshake(const config::Rule& rule, const FlowKey& key, std::size_t peer,
                      Instant now) const override;

 private:
  const RelayParts& parts_;
};

}  // namespace satrelay::gateway
