// Writes the Ethernet frames of TCP segments that spoofed endpoints send to their hosts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/tcp/endpoint.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/uplink/polled.h"

namespace satrelay::gateway {

class TcpFrames {
 public:
  // kLeft: the port computes the checksum of a segment with payload.
  enum class Sums : std::uint8_t { kWritten, kLeft };
  explicit TcpFrames(Sums sums) : sums_(sums) {}

  // Writes headers, payload and checksums. `out` must have room for the LAN MTU and an Ethernet
  // header with its VLAN tags.
  Polled write(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out);
  // The same for a segment that tcp::Endpoint::poll_next() has made from the segment written last.
  // Headers are copied where they are the same.
  Polled write_next(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out);

 private:
  Polled finish(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out) const;

  const Sums sums_;
  // Headers of the segment that was written last.
  std::array<std::byte,
             wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + wire::kMaxTcpHeaderSize>
      headers_{};
  std::size_t tcp_at_ = 0;
  std::size_t size_ = 0;  // of all its headers
  std::uint16_t payload_size_ = 0;
  tcp::EcnField ecn_{};
};

}  // namespace satrelay::gateway
