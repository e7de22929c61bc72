#include "relay/gateway/uplink/rates/lane_rates.h"

#include <algorithm>

namespace satrelay::gateway {

Carrier* LaneRates::find(std::string_view link) const {
  const auto found = std::ranges::find_if(
      parts_.carriers, [&](const auto& carrier) { return carrier->config.name == link; });
  return found == parts_.carriers.end() ? nullptr : found->get();
}

CapacityResult LaneRates::set_capacity(std::string_view link, LinkWay way, BitRate capacity,
                                       Instant now) {
  Carrier* const found = find(link);
  if (found == nullptr) return CapacityResult::kUnknownLink;
  Carrier& carrier = *found;
  const auto uses = [&](const Line& line) { return line.uses(carrier); };
  if (std::ranges::none_of(parts_.lines, uses)) return CapacityResult::kUnusedLink;
  if (capacity > carrier.configured(way)) return CapacityResult::kAboveConfigured;
  carrier.capacity(way) =
      capacity.is_zero() ? carrier.configured(way) : std::max(capacity, kLeastCapacity);
  if (way == LinkWay::kSend) {
    apply_capacity(carrier, now);
    return CapacityResult::kSet;
  }
  for (const LaneId lane : parts_.lines.ids()) {
    if (!uses(parts_.lines[lane])) continue;
    parts_.lines[lane].session.announce_capacity(capacity);
    parts_.ready_set.wake(lane);
  }
  return CapacityResult::kSet;
}

void LaneRates::set_most_rate(LaneId lane, BitRate most, Instant now) {
  parts_.lines[lane].most_rate = most.is_zero() ? most : std::max(most, kLeastCapacity);
  apply_capacity(lane, now);
}

BitRate LaneRates::commanded_capacity(std::string_view link, LinkWay way) const {
  const Carrier* const carrier = find(link);
  return carrier == nullptr ? BitRate() : carrier->commanded(way);
}

BitRate LaneRates::commanded(LaneId lane) const {
  const Line& line = parts_.lines[lane];
  BitRate least = line.carrier.send_capacity;
  if (!line.most_rate.is_zero()) least = std::min(least, line.most_rate);
  return least < line.carrier.config.send_rate ? least : BitRate();
}

// A carrier with several receivers is as fast as the fastest receiver. Does not call apply_limits()
// for all sessions, which would take too long: a peer may announce a new rate with each packet, and
// there may be a thousand peers.
void LaneRates::apply_rate(Carrier& carrier, Instant now) {
  const bool finds = carrier.config.finds_capacity();
  BitRate most;
  BitRate used;
  bool any_found = false;
  for (const Line& line : parts_.lines) {
    if (!line.uses(carrier)) continue;
    most = std::max(most, line.capacity);
    any_found = any_found || line.has_found;
    used = std::max(used, std::min(line.allowed, line.capacity));
  }
  if (most.is_zero()) return;
  for (Line& line : parts_.lines) {
    if (line.uses(carrier)) line.limit = line.capacity == most ? BitRate() : line.capacity;
  }
  const bool is_known = !finds || any_found;
  carrier.set_rate(is_known && !used.is_zero() ? used : most, is_known, now);
  turns_.apply(now);
  if (carrier.share().has_expired()) shares_.fall_back(carrier, now);
}

void LaneRates::apply_capacity(Carrier& carrier, Instant now) {
  for (const LaneId lane : parts_.lines.ids()) {
    parts_.ready_set.wake(lane);
    if (parts_.lines[lane].uses(carrier)) parts_.lines[lane].apply_limits();
  }
  apply_rate(carrier, now);
}

void LaneRates::apply_capacity(LaneId lane, Instant now) {
  Line& line = parts_.lines[lane];
  parts_.ready_set.wake(lane);
  // The limits of this session were never applied. This may be true for the other sessions of the
  // carrier too, so apply the limits of all of them.
  if (line.capacity.is_zero()) return apply_capacity(line.carrier, now);
  line.apply_limits();
  apply_rate(line.carrier, now);
}

void LaneRates::follow(LaneId lane, Instant now) {
  const Line& line = parts_.lines[lane];
  if (line.carrier.config.finds_capacity() && line.has_other_rate()) apply_capacity(lane, now);
}

void LaneRates::reconfigure(const std::vector<config::Link>& links, Instant now) {
  for (const auto& each : parts_.carriers) {
    Carrier& carrier = *each;
    const config::Link& link = links[carrier.id.index()];
    carrier.config.bridged_queue = link.bridged_queue;
    if (carrier.config.send_rate == link.send_rate) continue;
    carrier.config.send_rate = link.send_rate;
    carrier.send_capacity = carrier.config.send_rate;
    apply_capacity(carrier, now);
  }
}

ByteCount LaneRates::train(LinkId link) const {
  const Carrier& carrier = *parts_.carriers[link];
  ByteCount longest;
  if (!carrier.config.finds_capacity()) return longest;
  for (const Line& line : parts_.lines) {
    if (line.uses(carrier)) longest = std::max(longest, line.session.path().train());
  }
  return longest;
}

}  // namespace satrelay::gateway
