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

namespace satrelay::gateway {

class TcpFrames {
 public:
  // Headers, payload and checksums; the size of the frame. `out` must hold the LAN MTU and an
  // Ethernet header with its VLAN tags.
  std::size_t write(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out);
  // The same of one that tcp::Endpoint::poll_next() has made of the segment that was written last:
  // its headers are copied where they are the same.
  std::size_t write_next(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out);

 private:
  std::size_t finish(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out) const;

  // Of the segment that was written last.
  std::array<std::byte,
             wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + wire::kMaxTcpHeaderSize>
      headers_{};
  std::size_t tcp_at_ = 0;
  std::size_t size_ = 0;  // of all of its headers
  std::uint16_t payload_size_ = 0;
  tcp::EcnField ecn_{};
};

}  // namespace satrelay::gateway
