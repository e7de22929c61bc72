#include "relay/gateway/addresses/far/far_services.h"

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

std::optional<FarServices::Outcome> outcome_in(std::optional<std::uint32_t> value, Instant now) {
  if (!value) return std::nullopt;
  const std::int64_t age = std::int64_t{hour_of(now)} - (*value >> 8);
  if (age > FarServices::kKept / Duration::seconds(3600)) return std::nullopt;
  return static_cast<FarServices::Outcome>(*value & 0xff);
}

}  // namespace

std::uint64_t FarServices::hash(const FlowKey& connection) const {
  return hash_service(key_, connection.remote, connection.remote_port, connection.vlans);
}

bool FarServices::note(const FlowKey& connection, Outcome outcome, Instant now) {
  // The time is in the upper bits, so that SharedTable replaces the oldest value first.
  const std::uint32_t value = (hour_of(now) << 8) | static_cast<std::uint32_t>(outcome);
  return outcome_in(table_.put(hash(connection), value), now) != outcome;
}

std::optional<FarServices::Outcome> FarServices::latest(const FlowKey& connection,
                                                        Instant now) const {
  return outcome_in(table_.find(hash(connection)), now);
}

}  // namespace satrelay::gateway
