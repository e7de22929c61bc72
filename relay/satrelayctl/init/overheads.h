// Modems by the bytes that each packet costs on the link beyond its IP bytes (key `overhead` of a
// link).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "config/model/schema.h"

namespace satrelay::ctl::init {

struct Overhead {
  std::string_view name;  // `ethernet` and `ip` are words of the configuration itself
  std::uint32_t bytes = 0;
  std::string_view help;  // where the number comes from
};

// MPE and ULE fill packets of MPEG-TS, each with 184 bytes of payload and 4 bytes of header. The
// configuration has one number for all packets, so these rows count a packet of 1,500 bytes, with
// the next section or SNDU packed behind it:
//   MPE: 16 + (1500 + 16) * 4 / 184, and the pointer field of 1 byte: 50
//   ULE: 14 + (1500 + 14) * 4 / 184, and the pointer field of 1 byte: 48
inline constexpr Overhead kOverheads[] = {
    {"ethernet", config::kOverheadEthernet,
     "an Ethernet line or a modem that counts like one: preamble 8, header 14, FCS 4, gap 12 "
     "(IEEE 802.3)"},
    {"ip", config::kOverheadIp, "a modem whose rate is for IP packets alone"},
    {"gse", 10,
     "DVB-S2 or S2X with GSE: length 2, protocol type 2, label 6 (ETSI TS 102 606-1, a packet in "
     "one piece)"},
    {"mpe", 50,
     "DVB-S or S2 with MPE: section 12, CRC 4 (ETSI EN 301 192), and 34 of MPEG-TS for a packet "
     "of 1,500 bytes, with section packing"},
    {"ule", 48,
     "DVB-S or S2 with ULE: SNDU 4, address 6, CRC 4 (RFC 4326), and 34 of MPEG-TS for a packet "
     "of 1,500 bytes, with packing"},
    {"hdlc", 7,
     "a serial SCPC modem with PPP in HDLC frames: flag 1, address 1, control 1, protocol 2, FCS "
     "2 (RFC 1662), without stuffed bits"},
};

// Returns nullptr if there is no such word.
constexpr const Overhead* find_overhead(std::string_view name) {
  const auto* const found = std::ranges::find(kOverheads, name, &Overhead::name);
  return found == std::end(kOverheads) ? nullptr : found;
}

}  // namespace satrelay::ctl::init
