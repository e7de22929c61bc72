// TCP segment header (RFC 9293 section 3.1) with the options a relay understands: MSS (RFC 9293),
// window scale and timestamps (RFC 7323), SACK (RFC 2018).
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------------------------------+-------------------------------+
//   |          Source Port          |       Destination Port        |
//   |                        Sequence Number                        |
//   |                    Acknowledgment Number                      |
//   | Offset| Rsrvd |C|E|U|A|P|R|S|F|            Window             |
//   |           Checksum            |         Urgent Pointer        |
//   |                           [Options]                           |
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"

namespace satrelay::wire {

inline constexpr std::size_t kTcpHeaderSize = 20;
inline constexpr std::size_t kMaxTcpHeaderSize = 60;
inline constexpr std::size_t kMaxSackBlocks = 4;
inline constexpr std::size_t kTcpSequenceOffset = 4;
inline constexpr std::size_t kTcpFlagsOffset = 13;
inline constexpr std::size_t kTcpChecksumOffset = 16;

struct TcpFlags {
  static constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10,
                                kUrg = 0x20, kEce = 0x40, kCwr = 0x80;
};

// Whether a segment begins a connection. A SYN with FIN or RST does not; no working host sends such
// a segment.
constexpr bool opens_connection(std::uint8_t flags) {
  constexpr unsigned kHandshake = TcpFlags::kSyn | TcpFlags::kAck | TcpFlags::kRst | TcpFlags::kFin;
  return (flags & kHandshake) == TcpFlags::kSyn;
}

struct TcpSackBlock {
  std::uint32_t begin = 0;  // left edge
  std::uint32_t end = 0;    // right edge, exclusive
  friend bool operator==(const TcpSackBlock&, const TcpSackBlock&) = default;
};

struct TcpTimestamps {
  std::uint32_t value = 0;       // TSval
  std::uint32_t echo_reply = 0;  // TSecr
  friend bool operator==(const TcpTimestamps&, const TcpTimestamps&) = default;
};

struct TcpOptions {
  std::optional<std::uint16_t> mss;
  std::optional<std::uint8_t> window_scale;  // as received, not clamped to 14
  bool sack_permitted = false;
  std::optional<TcpTimestamps> timestamps;
  std::array<TcpSackBlock, kMaxSackBlocks> sack{};
  std::uint8_t sack_count = 0;
  // Options that make a flow unfit for splitting, or that are not parsed.
  bool has_md5 = false;         // RFC 2385, kind 19
  bool has_ao = false;          // RFC 5925, kind 29
  bool has_mptcp = false;       // RFC 8684, kind 30
  bool has_mptcp_join = false;  // subtype MP_JOIN of MPTCP: a further path of a connection
  bool has_fast_open = false;   // RFC 7413, kind 34
  bool has_unknown = false;     // any other kind
  friend bool operator==(const TcpOptions&, const TcpOptions&) = default;
};

struct TcpHeader {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = 0;    // TcpFlags
  std::uint16_t window = 0;  // unscaled, as on the wire
  std::uint16_t urgent = 0;
  TcpOptions options;

  constexpr bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  constexpr bool opens_connection() const { return wire::opens_connection(flags); }
};

struct ParsedTcp {
  TcpHeader header;
  std::size_t header_size = 0;  // the payload starts here
};

// Parses the header at the front of an IP payload. The caller must verify the checksum first.
// Returns nullopt if the segment is short, the data offset is impossible or an option is malformed.
std::optional<ParsedTcp> parse_tcp(ConstBytes segment);
// Fills `parsed`, which must be in its initial state, instead of returning a header.
[[nodiscard]] bool parse_tcp(ConstBytes segment, ParsedTcp& parsed);
// The size of the header that write_tcp() writes: a multiple of four, at most kMaxTcpHeaderSize.
// SACK blocks that do not fit are left out (RFC 2018: with timestamps, three fit).
std::size_t tcp_header_size(const TcpHeader& header);
// Writes the header with a zero checksum field; returns tcp_header_size(header).
std::size_t write_tcp(const TcpHeader& header, MutableBytes out);

}  // namespace satrelay::wire
