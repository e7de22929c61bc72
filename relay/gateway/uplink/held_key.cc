#include "relay/gateway/uplink/held_key.h"

#include <algorithm>
#include <array>

namespace satrelay::gateway {

HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame) {
  HeldKey held{.traffic_class = traffic_class};
  if (frame.kind < FrameKind::kFragment) return held;
  held.host =
      hash_host(key, fair == config::FairHosts::kLocal ? frame.ip.source : frame.ip.destination);
  std::array<std::byte, 16 + 16 + 1 + 4> flow{};
  const auto source = std::as_bytes(std::span(frame.ip.source.octets()));
  const auto destination = std::as_bytes(std::span(frame.ip.destination.octets()));
  auto at = std::ranges::copy(source, flow.begin()).out;
  at = std::ranges::copy(destination, at).out;
  *at++ = static_cast<std::byte>(frame.ip.protocol);
  const bool has_ports = frame.kind == FrameKind::kUdp || frame.kind == FrameKind::kTcp;
  if (has_ports && frame.payload.size() >= 4) std::ranges::copy(frame.payload.first(4), at);
  held.flow = sip_hash(key, flow);
  return held;
}

}  // namespace satrelay::gateway
