// Ethernet II header with up to two VLAN tags (IEEE 802.3, 802.1Q, 802.1ad).
//
//    0       6       12         [16]       [20]
//   +-------+-------+----------+----------+-----------+
//   |  dst  |  src  | tag (4)  | tag (4)  | EtherType |
//   +-------+-------+----------+----------+-----------+
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/image/image.h"

namespace satrelay::wire {

enum class EtherType : std::uint16_t {
  kIpv4 = 0x0800,
  kArp = 0x0806,
  kVlan = 0x8100,
  kIpv6 = 0x86dd,
  kSlowProtocols = 0x8809,  // LACP, OAM
  kMpls = 0x8847,
  kMplsMulticast = 0x8848,
  kPppoeDiscovery = 0x8863,
  kPppoeSession = 0x8864,
  kEapol = 0x888e,
  kServiceVlan = 0x88a8,
  kLldp = 0x88cc,
  kCfm = 0x8902,
};

// One 802.1Q tag as it stands on the wire.
struct VlanTag {
  std::uint16_t tpid = 0;  // 0x8100 or 0x88a8
  std::uint16_t tci = 0;   // priority, drop eligibility, VLAN id

  constexpr std::uint16_t vlan_id() const { return tci & 0x0fffU; }
  void image(Image& image) { image(tpid, tci); }
  friend constexpr auto operator<=>(const VlanTag&, const VlanTag&) = default;
};

inline constexpr std::size_t kMaxVlanTags = 2;
inline constexpr std::size_t kEthernetHeaderSize = 14;
inline constexpr std::size_t kMaxEthernetHeaderSize = kEthernetHeaderSize + 4 * kMaxVlanTags;

struct EthernetHeader {
  MacAddress destination;
  MacAddress source;
  std::array<VlanTag, kMaxVlanTags> tags{};  // outermost first
  std::uint8_t tag_count = 0;
  EtherType type{};  // EtherType of the payload, after all tags

  constexpr std::size_t size() const { return kEthernetHeaderSize + 4U * tag_count; }
  // Returns the header of a frame in the opposite direction.
  constexpr EthernetHeader reversed() const {
    EthernetHeader header = *this;
    header.source = destination;
    header.destination = source;
    return header;
  }
  void image(Image& image) {
    image(destination, source, tags, type);
    image.at_most(kMaxVlanTags, tag_count);
  }
  friend bool operator==(const EthernetHeader&, const EthernetHeader&) = default;
};

// Returns nullopt if the frame is too short, or has more than two tags.
std::optional<EthernetHeader> parse_ethernet(ConstBytes frame);
// Fills `header`, which must be in its initial state. This is faster than returning a header, which
// would be moved for each frame. If the result is false, the contents of `header` have no meaning.
[[nodiscard]] bool parse_ethernet(ConstBytes frame, EthernetHeader& header);
// Writes header.size() bytes; `out` must have room for them.
void write_ethernet(const EthernetHeader& header, MutableBytes out);

}  // namespace satrelay::wire
