// The metadata of a flow in OPEN. They let the far gateway use the client's address, port and
// Ethernet header, and offer the client's TCP options to the server. pep/stp does not interpret
// them.
//
//   octet  0       1       2       3      4..9     10..15   16..16+4T
//        +-------+-------+-------+-------+--------+--------+-----------+
//        |version|  IP   |tags T |options|dst MAC |src MAC | TPID, TCI |
//        |  = 3  | 4 / 6 | 0..2  | bits  |        |        |  each     |
//        +-------+-------+-------+-------+--------+--------+-----------+
//
// These fields follow: the client address and the server address (4 or 16 octets each), the client
// port, the server port and the MSS (2 octets each), the window scale, the traffic class and the
// hop limit (1 octet each), the modes if present, and the class if present.
//
// Option bits: 1 MSS present, 2 window scale present, 4 SACK permitted, 8 timestamps offered, 16
// name of a class present (its length, 1 to 32, and its octets), 32 modes present, 64 ECN offered.
//
// Bits of the modes, never all 0: 1 remote handshake, 2 end-to-end acknowledgments, 4 confirmed
// close, 8 mirrored window, 16 prompt delivery (only to a peer that understands REPAIR). Without
// this octet all modes have the defaults of config::FlowModes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/model/names.h"
#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {

struct OpenMetadata {
  // Ethernet header of the client's SYN. OPEN does not carry its EtherType, which follows from the
  // addresses.
  wire::EthernetHeader ethernet;
  IpAddress client;
  IpAddress server;
  std::uint16_t client_port = 0;
  std::uint16_t server_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::string class_name;    // the flow's class in both directions; empty if none
  config::FlowModes modes;   // modes that apply at both gateways
  bool ecn_offered = false;  // the client's SYN asked for ECN (RFC 3168)
  wire::TcpOptions options;  // MSS, window scale, SACK permitted, presence of timestamps
};

inline constexpr std::size_t kMaxOpenMetadata =
    16 + 8 + 32 + 6 + 3 + 1 + 1 + config::kMostNameCharacters;

// Writes the metadata; returns the size. `out` must have room for kMaxOpenMetadata bytes.
std::size_t write_open_metadata(const OpenMetadata& metadata, MutableBytes out);
// Returns nullopt if the metadata is malformed, has another version, or is followed by extra
// octets.
std::optional<OpenMetadata> parse_open_metadata(ConstBytes bytes);

}  // namespace satrelay::gateway
