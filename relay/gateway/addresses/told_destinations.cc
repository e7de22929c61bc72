#include "relay/gateway/addresses/told_destinations.h"

namespace satrelay::gateway {

bool ToldDestinations::is_news(const HostPair& pair, const MacAddress& mac, Instant now) const {
  const Entry& entry = entries_[place(pair)];
  return entry.mac != mac || entry.pair != pair || now >= entry.again;
}

void ToldDestinations::note(const HostPair& pair, const MacAddress& mac, Instant now) {
  entries_[place(pair)] = {.pair = pair, .mac = mac, .again = now + kAgain};
}

}  // namespace satrelay::gateway
