#include "relay/gateway/addresses/learned_destinations.h"

namespace satrelay::gateway {

void LearnedDestinations::hear(const HostPair& pair, const MacAddress& mac, Instant now) {
  Entry& entry = entries_[place(pair)];
  const bool is_known = holds(entry, pair) && entry.mac == mac;
  if (!is_known) entry = {.pair = pair, .mac = mac, .sender = {}, .claim = ++claims_, .heard = now};
  entry.heard = now;
}

std::optional<LearnedDestinations::Heard> LearnedDestinations::find(const HostPair& pair,
                                                                    Instant now) const {
  const Entry& entry = entries_[place(pair)];
  if (!holds(entry, pair) || now >= entry.heard + kKept) return std::nullopt;
  return Heard{.mac = entry.mac, .claim = entry.claim};
}

void LearnedDestinations::note_receiver(const HostPair& pair, const MacAddress& sender,
                                        const MacAddress& receiver) {
  Entry& entry = entries_[place(pair)];
  if (!holds(entry, pair)) return;
  if (receiver == entry.mac && sender != receiver) {
    entry.sender = sender;
  } else if (entry.sender == sender) {
    entry.sender = MacAddress();
  }
}

MacAddress LearnedDestinations::receiver(const HostPair& pair, const MacAddress& sender,
                                         Instant now) const {
  const Entry& entry = entries_[place(pair)];
  const bool is_recent = holds(entry, pair) && now < entry.heard + kKept;
  return is_recent && entry.sender == sender ? entry.mac : sender;
}

}  // namespace satrelay::gateway
