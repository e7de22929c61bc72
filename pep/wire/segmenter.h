// Cuts a large frame as a segmentation offload would have done: a TCP segment or a UDP payload
// longer than a frame. Its pieces share its headers, including the headers of a tunnel (Linux: GSO
// of TCPv4, TCPv6 and UDP_L4).
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
  // Linux sends no TCP segments with less than 8 bytes (tcp_min_snd_mss counts 40 of options), and
  // at most 128 UDP datagrams at a time. No honest host makes more pieces than this.
  static constexpr std::size_t kMostPieces = 0x10000 / 8;

  // `frame` must stay unchanged until the last piece is written. VLAN tags, IPv4 options and IPv6
  // extension headers are copied. nullopt if `protocol` does not follow them (a tunnel), or if the
  // frame is a fragment, has no payload, makes too many pieces, or contradicts itself.
  static std::optional<Segmenter> of(ConstBytes frame, SegmentedProtocol protocol,
                                     std::size_t segment_size);
  // The same for a packet within `tunnel`, which was found in this frame.
  static std::optional<Segmenter> of(ConstBytes frame, const Tunnel& tunnel,
                                     SegmentedProtocol protocol, std::size_t segment_size);

  // Makes pieces so short that their IP packets fit this MTU. False in two cases:
  // - The segment is more than a run of bytes (SYN, RST, urgent data). It stays in one piece,
  //   unless its sender has left it to be cut.
  // - The headers leave less than half of the MTU for payload. Each octet less makes more pieces,
  //   and no honest host has so many headers.
  [[nodiscard]] bool fit(std::size_t mtu);
  // Whether the transport's checksum is right for the frame as it is. Each piece gets a right
  // checksum, and a frame that was damaged must not become right by that.
  bool checksum_is_right() const;
  bool is_in_tunnel() const { return tunnel_.has_value(); }
  // Where the transport header begins.
  std::size_t transport_at() const { return transport_at_; }
  // Size of the longest piece, headers included.
  std::size_t longest() const;
  // The same without the Ethernet header, as an MTU counts it.
  std::size_t longest_packet() const;
  bool done() const { return written_ == payload_size_; }
  // Size of the next piece. Not when done().
  std::size_t next_size() const;
  // Writes the next piece into `out`, which has next_size() bytes. The piece gets its own sequence
  // number or length, identification and checksums, in the headers of a tunnel, too. FIN and PSH
  // are set in the last piece only, CWR in the first only. Not when done().
  void write_next(MutableBytes out);

 private:
  static std::optional<Segmenter> of_packet(ConstBytes frame, std::size_t ip_at, EtherType type,
                                            SegmentedProtocol protocol, std::size_t segment_size);
  std::size_t piece() const;

  ConstBytes frame_;  // without the bytes behind the IP packet
  SegmentedProtocol protocol_{};
  IpAddress source_;
  IpAddress destination_;
  std::optional<Tunnel> tunnel_;
  std::size_t ip_at_ = 0;  // within the tunnel, if there is one
  std::size_t transport_at_ = 0;
  std::size_t payload_at_ = 0;
  std::size_t payload_size_ = 0;
  std::size_t segment_size_ = 0;
  std::size_t written_ = 0;
  std::uint16_t count_ = 0;  // pieces written
};

}  // namespace satrelay::wire
