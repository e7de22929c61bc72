#include "relay/gateway/addresses/announced_destinations.h"

namespace satrelay::gateway {

bool AnnouncedDestinations::is_news(const Listener& listener, const HostPair& pair,
                                    const MacAddress& mac, Instant now) const {
  const Entry& entry = entries_[place(listener, pair)];
  const bool was_told = entry.listener == listener && entry.pair == pair && entry.mac == mac;
  return !was_told || now >= entry.again;
}

void AnnouncedDestinations::note(const Listener& listener, const HostPair& pair,
                                 const MacAddress& mac, Instant now) {
  entries_[place(listener, pair)] = {
      .listener = listener, .pair = pair, .mac = mac, .again = now + kAgain};
}

}  // namespace satrelay::gateway
