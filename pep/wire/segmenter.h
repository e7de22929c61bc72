// Cuts a large frame as a segmentation offload would have done. The frame has a TCP segment or a
// UDP payload that is longer than a frame may be. The pieces have the headers of the large frame,
// including the headers of a tunnel (Linux: GSO of TCPv4, TCPv6 and UDP_L4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tunnel.h"

namespace satrelay::wire {

enum class SegmentedProtocol : std::uint8_t { kTcp, kUdp };

class Segmenter {
 public:
  // Linux sends no TCP segments of less than 8 bytes (tcp_min_snd_mss includes 40 bytes of
  // options), and at most 128 UDP datagrams at a time. So no honest host makes more pieces than
  // this.
  static constexpr std::size_t kMostPieces = 0x10000 / 8;

  // `frame` must stay unchanged until the last piece is written. VLAN tags, IPv4 options and IPv6
  // extension headers are copied to each piece. Returns nullopt if they are followed by a protocol
  // other than `protocol` (as in a tunnel). Also returns nullopt if the frame is a fragment, has no
  // payload, makes too many pieces, or is malformed.
  static std::optional<Segmenter> of(ConstBytes frame, SegmentedProtocol protocol,
                                     std::size_t segment_size);
  // Like of() above, for a packet within `tunnel`, which Tunnel::around() has found in this frame.
  static std::optional<Segmenter> of(ConstBytes frame, const Tunnel& tunnel,
                                     SegmentedProtocol protocol, std::size_t segment_size);

  // Limits the pieces so that their IP packets fit this MTU. Returns false in two cases:
  // - The segment has SYN, RST or urgent data, and must stay in one piece.
  // - The headers leave less than half of the MTU for payload. Such headers would make very many
  //   pieces, and no honest host has them.
  [[nodiscard]] bool fit(std::size_t mtu);
  // Whether the transport checksum of the frame is right. write_next() calculates a new checksum
  // for each piece, so a damaged frame would seem intact after it was cut.
  bool checksum_is_right() const;
  bool is_in_tunnel() const { return tunnel_.has_value(); }
  // Offset of the transport header.
  std::size_t transport_at() const { return transport_at_; }
  // Size of the longest piece, including all headers.
  std::size_t longest() const;
  // Size of the longest piece without the Ethernet header, for comparison with an MTU.
  std::size_t longest_packet() const;
  bool done() const { return written_ == payload_size_; }
  // Size of the next piece. Must not be called when done().
  std::size_t next_size() const;
  // Writes the next piece into `out`, which has next_size() bytes. The piece gets its own sequence
  // number or length, identification and checksums, also in the headers of a tunnel. FIN and PSH
  // are set only in the last piece, CWR only in the first. Must not be called when done().
  void write_next(MutableBytes out);

 private:
  static std::optional<Segmenter> of_packet(ConstBytes frame, std::size_t ip_at, EtherType type,
                                            SegmentedProtocol protocol, std::size_t segment_size);
  std::size_t piece() const;

  ConstBytes frame_;  // without the bytes after the IP packet
  SegmentedProtocol protocol_{};
  IpAddress source_;
  IpAddress destination_;
  std::optional<Tunnel> tunnel_;
  std::size_t ip_at_ = 0;  // the inner IP header, if there is a tunnel
  std::size_t transport_at_ = 0;
  std::size_t payload_at_ = 0;
  std::size_t payload_size_ = 0;
  std::size_t segment_size_ = 0;
  std::size_t written_ = 0;
  std::uint16_t count_ = 0;  // number of pieces written
};

}  // namespace satrelay::wire
