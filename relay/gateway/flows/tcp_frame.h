// Writes the Ethernet frames of TCP segments that flows send to their hosts in the far host's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"
#include "pep/tcp/endpoint.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/uplink/polled.h"

namespace satrelay::gateway {

class TcpFrames {
 public:
  // With kLeft, the port computes the checksums of segments with payload.
  enum class Sums : std::uint8_t { kWritten, kLeft };
  explicit TcpFrames(Sums sums) : sums_(sums) {}

  // Writes headers, payload and checksums of each of the `segments` into its own element of
  // `rooms`. Each element must be large enough for the LAN MTU and an Ethernet header with its VLAN
  // tags.
  void write(const Flow& flow, tcp::SegmentToSend segments, std::span<const MutableBytes> rooms,
             std::span<Polled> polled) const;

 private:
  struct Headers {
    std::size_t tcp_at = 0;
    std::size_t size = 0;  // size of all headers
  };
  static Headers write_headers(const Flow& flow, const tcp::SegmentToSend& segment,
                               MutableBytes out);
  Polled finish(const Flow& flow, const tcp::SegmentToSend& segment, const Headers& headers,
                MutableBytes out) const;

  const Sums sums_;
};

}  // namespace satrelay::gateway
