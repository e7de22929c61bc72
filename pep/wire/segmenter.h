// Cuts what a segmentation offload would have cut: a TCP segment or a UDP payload longer than a
// frame, with the headers that all its pieces share (Linux: GSO of TCPv4, TCPv6 and UDP_L4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::wire {

enum class SegmentedProtocol : std::uint8_t { kTcp, kUdp };

class Segmenter {
 public:
  // `frame` must stay as it is until the last piece is written. VLAN tags, IPv4 options and IPv6
  // extension headers are copied. nullopt if `protocol` does not stand behind them (a tunnel), the
  // frame is a fragment, is without payload, or contradicts itself.
  static std::optional<Segmenter> of(ConstBytes frame, SegmentedProtocol protocol,
                                     std::size_t segment_size);

  // Pieces become so short that their IP packets fit this MTU. False if that cannot be: more than a
  // run of bytes (SYN, RST, urgent data), which stays in one piece unless its sender has left it to
  // be cut; or headers that leave to payload less than half of the MTU, as each octet less makes
  // more pieces, and no honest host has so many.
  [[nodiscard]] bool fit(std::size_t mtu);
  // Whether the transport's checksum is that of the frame as it is: each piece gets one that is
  // right, and what was damaged before must not become right by that.
  bool checksum_is_right() const;
  // Where the transport header begins.
  std::size_t transport_at() const { return transport_at_; }
  // Of the longest piece, headers included.
  std::size_t longest() const;
  // The same without the Ethernet header: what an MTU is about.
  std::size_t longest_packet() const;
  bool done() const { return written_ == payload_size_; }
  // Size of the next piece; not when done().
  std::size_t next_size() const;
  // Writes the next piece into `out`, which has next_size() bytes: sequence number or length,
  // identification and checksums as its own; FIN and PSH with the last piece only, CWR with the
  // first. Not when done().
  void write_next(MutableBytes out);

 private:
  std::size_t piece() const;

  ConstBytes frame_;  // without what stands behind the IP packet
  SegmentedProtocol protocol_{};
  IpAddress source_;
  IpAddress destination_;
  std::size_t ip_at_ = 0;
  std::size_t ip_header_size_ = 0;  // without extension headers
  std::size_t transport_at_ = 0;
  std::size_t payload_at_ = 0;
  std::size_t payload_size_ = 0;
  std::size_t segment_size_ = 0;
  std::size_t written_ = 0;
  std::uint16_t count_ = 0;  // pieces written
};

}  // namespace satrelay::wire
