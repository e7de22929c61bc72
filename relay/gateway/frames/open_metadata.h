// What OPEN carries about a flow, so that the far gateway can wear the client's address, port and
// L2 header, and offer the server what the client offered. Opaque to pep/stp.
//
//   octet  0       1       2       3      4..9     10..15   16..16+4T   then
//        +-------+-------+-------+-------+--------+--------+-----------+---------------------------
//        |version|  IP   |tags T |options|dst MAC |src MAC | TPID, TCI | client address, server
//        |  = 3  | 4 / 6 | 0..2  | bits  |        |        |  each     | address (4 or 16 each),
//        +-------+-------+-------+-------+--------+--------+-----------+ client port, server port,
//                                                                      | MSS (2 each), window
//                                                                      scale, | traffic class, hop
//                                                                      limit, modes if present,
//                                                                      | class if present
//
// Option bits: 1 MSS present, 2 window scale present, 4 SACK permitted, 8 timestamps offered, 16
// name of a class present (its length, 1 to 32, and its octets), 32 modes present (local otherwise,
// never 0): 1 remote handshake, 2 end-to-end acknowledgments, 4 confirmed close, 8 mirrored window,
// 16 prompt delivery (only to a peer that understands REPAIR). 64: ECN offered.
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
  wire::EthernetHeader ethernet;  // of the client's SYN; the type follows from the addresses
  IpAddress client;
  IpAddress server;
  std::uint16_t client_port = 0;
  std::uint16_t server_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::string class_name;    // of the flow, in both directions; "": none
  config::FlowModes modes;   // of both sides
  bool ecn_offered = false;  // the client's SYN asked for ECN (RFC 3168)
  wire::TcpOptions options;  // MSS, window scale, SACK permitted, presence of timestamps
};

inline constexpr std::size_t kMaxOpenMetadata =
    16 + 8 + 32 + 6 + 3 + 1 + 1 + config::kMostNameCharacters;

// Writes the metadata; the size written. `out` must have room for kMaxOpenMetadata bytes.
std::size_t write_open_metadata(const OpenMetadata& metadata, MutableBytes out);
// nullopt if it is malformed, of another version, or has octets left over.
std::optional<OpenMetadata> parse_open_metadata(ConstBytes bytes);

}  // namespace satrelay::gateway
