#include "relay/gateway/peer.h"

namespace satrelay::gateway {
namespace {

// What may leave at once: enough to bridge the gaps between two polls of a shared CPU, and far less
// than the 25 ms that the modem's queue is allowed.
constexpr Duration kBurst = Duration::milliseconds(4);
// How far bridged frames, which are not held back, may push relayed ones into the future.
constexpr Duration kBridgedDebt = Duration::milliseconds(20);

}  // namespace

Carrier::Carrier(const config::Link& link)
    : config(link),
      pacer(control::FixedRate(link.send_rate).rate(), control::LinkOverhead{link.overhead}, kBurst,
            kBridgedDebt),
      send_capacity(link.send_rate),
      receive_capacity(link.receive_rate) {}

}  // namespace satrelay::gateway
