#include "relay/gateway/uplink/uplink.h"

#include <algorithm>

#include "relay/gateway/uplink/held_key.h"

namespace satrelay::gateway {

using schedule::ClassId;

Uplink::Uplink(const config::Gateway& config, std::size_t lanes, HashKey secret,
               ReleasedFragments& released, SessionPort& port, Instant now)
    : secret_(secret),
      fair_hosts_(config.fair_hosts),
      released_(released),
      port_(port),
      parts_(config, lanes),
      shares_(parts_, port) {
  turns_.apply(now);
}

void Uplink::add_lane(std::span<const LinkId> links, stp::Session& session,
                      std::uint16_t datagram_overhead, unsigned lanes) {
  for (const LinkId link : links) parts_.carriers[link]->has_peers = true;
  parts_.ready_set.wake(parts_.lines.push_back(
      {links, *parts_.carriers[links.front()], session, datagram_overhead, lanes}));
}

// --- bridged frames ----------------------------------------------------------------------------

Uplink::BridgeOutcome Uplink::admit(ClassId id, const Frame& frame, std::size_t ip_bytes,
                                    Instant now) {
  // Fragments that arrived earlier must be sent first.
  const bool must_wait = released_.any_to_send() && !frame.reassembled;
  const ClassId turn = turns_.turn_of(id);
  const bool is_first = !must_wait && (parts_.held.classes() & schedule::class_bit(turn)) == 0;
  if (is_first) {
    if (const auto way = way_out(turn, now); way && way->is_only_source) {
      parts_.held.forgive(turn);
      debit_bridged(*way, 0, ip_bytes, now);
      return BridgeOutcome::kLeaves;
    }
  }
  const auto slot = parts_.held.push(held_key(secret_, fair_hosts_, turn, frame),
                                     static_cast<std::uint16_t>(ip_bytes), now);
  if (!slot) {
    ++parts_.classes[id].use.dropped_frames;
    return BridgeOutcome::kNoRoom;
  }
  // Even if the frame can be sent at once, it passes through the queue, which charges it to its
  // host. If the host has used up its share of the class, sessions that wait in the class are
  // served first.
  if (const auto way = is_first ? way_out(turn, now) : std::nullopt) {
    const auto held = parts_.held.pop(turn, turns_.held_terms(turn), now);
    debit_bridged(*way, held->lead, ip_bytes, now);
    return BridgeOutcome::kLeaves;
  }
  held_slot_ = *slot;
  ++parts_.classes[id].use.waited_frames;
  return BridgeOutcome::kWaits;
}

bool Uplink::pass_control(std::size_t ip_bytes, Instant now) {
  for (const auto& carrier : parts_.carriers) {
    const ByteCount accounted = carrier->pacer.overhead().accounted(ip_bytes);
    control::Budget& budget = carrier->own.control();
    if (!carrier->pacer.can_send_urgent(ip_bytes, now) ||
        !budget.allows(accounted, control::Budget::Claim::kFirst, now)) {
      continue;
    }
    budget.debit(accounted, now);
    debit_bridged({.traffic_class = turns_.turn_of(TrafficClasses::kBridged)}, 0, ip_bytes, now);
    return true;
  }
  return false;
}

// --- frames of the gateway itself ---------------------------------------------------------------

std::size_t Uplink::ip_bytes_of(std::size_t frame_size) {
  return frame_size - std::min(frame_size, wire::kEthernetHeaderSize);
}

// The gateway's own frames are sent on links that have peers. If there are several such links, the
// gateway does not know which one the frames take.
bool Uplink::speaks_on(const Carrier& carrier) const {
  return carrier.has_peers || parts_.lines.empty();
}

bool Uplink::take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) {
  for (const auto& carrier : parts_.carriers) {
    const ByteCount accounted = carrier->pacer.overhead().accounted(ip_bytes_of(frame_size));
    if (!speaks_on(*carrier) || !carrier->own.allows(kind, known, accounted, now)) continue;
    carrier->own.debit(kind, accounted, now);
    return true;
  }
  return false;
}

Instant Uplink::next_own(std::size_t frame_size) const {
  Instant next = Instant::never();
  for (const auto& carrier : parts_.carriers) {
    if (!speaks_on(*carrier)) continue;
    next = earlier(next, carrier->pacer.next_urgent(ip_bytes_of(frame_size)));
  }
  return next;
}

void Uplink::reconfigure(const config::Gateway& next, const ClassDictionaries& dictionaries,
                         Instant now) {
  parts_.classes.replace(next.classes, dictionaries);
  turns_.apply(now);
  rates_.reconfigure(next.links, now);
}

}  // namespace satrelay::gateway
