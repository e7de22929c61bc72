#include "relay/gateway/uplink/held_key.h"

#include <algorithm>
#include <array>

#include "pep/wire/encapsulation.h"

namespace satrelay::gateway {

namespace {

// Hashes the two MACs and, if there is a tunnel between them, its PPPoE session or its MPLS labels.
std::uint64_t hash_of_tunnel(const HashKey& key, const Frame& frame) {
  std::array<std::byte, 6 + 6 + 4 * wire::MplsFrame::kMostLabels> bytes{};
  auto at =
      std::ranges::copy(std::as_bytes(std::span(frame.ethernet.source.octets)), bytes.begin()).out;
  at = std::ranges::copy(std::as_bytes(std::span(frame.ethernet.destination.octets)), at).out;
  switch (frame.ethernet.type) {
    case wire::EtherType::kPppoeSession:
      if (const auto pppoe = wire::parse_pppoe(frame.payload)) store_u16(&*at, pppoe->session);
      break;
    case wire::EtherType::kMpls:
    case wire::EtherType::kMplsMulticast:
      if (const auto mpls = wire::parse_mpls(frame.payload)) {
        for (const std::uint32_t label : mpls->labels) {
          store_u32(&*at, label);
          at += 4;
        }
      }
      break;
    default:
      break;
  }
  return sip_hash(key, bytes);
}

}  // namespace

HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame) {
  HeldKey held{.traffic_class = traffic_class};
  if (frame.kind < FrameKind::kFragment) {
    held.host = held.flow = hash_of_tunnel(key, frame);
    return held;
  }
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
