#include "relay/gateway/uplink/carrier.h"

#include <algorithm>

namespace satrelay::gateway {
namespace {

// What may leave at once: enough to bridge the gaps between two polls of a shared CPU, and far less
// than the 25 ms that the modem's queue is allowed.
constexpr Duration kBurst = Duration::milliseconds(4);
// How far frames that are not held back may push all others into the future.
constexpr Duration kBridgedDebt = Duration::milliseconds(20);

// A few frames must find room, however slow the carrier.
constexpr ByteCount kLeastHeld = ByteCount(64ULL << 10);

}  // namespace

Carrier::Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts)
    : config(link),
      pacer(link.send_rate.scaled(995, 1000), control::LinkOverhead{link.overhead}, kBurst,
            kBridgedDebt),
      classes(pacer.rate(), sources),
      host_shares(most_hosts),
      send_capacity(link.send_rate),
      receive_capacity(link.receive_rate) {}

ByteCount Carrier::held_limit(schedule::ClassId traffic_class) const {
  return std::max(kLeastHeld, classes.expected_rate(traffic_class).bytes_in(config.bridged_queue));
}

}  // namespace satrelay::gateway
