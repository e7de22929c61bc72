#include "pep/base/check.h"
#include "pep/wire/icmp.h"

namespace satrelay::wire {

namespace {

// RFC 4861 section 4.6: options are type, length in units of eight octets, body.
constexpr std::uint8_t kSourceLinkLayer = 1;
constexpr std::uint8_t kTargetLinkLayer = 2;
constexpr std::size_t kOptionUnit = 8;
constexpr std::size_t kTargetSize = 16;
constexpr std::uint8_t kRedirect = 137;
// Flags of an advertisement, section 4.4.
constexpr std::uint32_t kSolicited = 0x4000'0000U;
constexpr std::uint32_t kOverride = 0x2000'0000U;

// `body` has at least kTargetSize octets.
IpAddress load_target(ConstBytes body) {
  std::array<std::uint8_t, kTargetSize> target;
  std::memcpy(target.data(), body.data(), target.size());
  return IpAddress::v6(target);
}

// Searches for the link-layer address. Returns false if an option is malformed.
bool parse_options(ConstBytes options, std::uint8_t wanted, std::optional<MacAddress>& found) {
  while (!options.empty()) {
    if (options.size() < kOptionUnit) return false;
    const std::uint8_t type = load_u8(options.data());
    const std::size_t size = load_u8(options.data() + 1) * kOptionUnit;
    if (size == 0 || size > options.size()) return false;
    if (type == wanted && !found) {
      if (size != kOptionUnit) return false;  // an Ethernet address takes exactly one unit
      MacAddress mac;
      std::memcpy(mac.octets.data(), options.data() + 2, mac.octets.size());
      found = mac;
    }
    options = options.subspan(size);
  }
  return true;
}

}  // namespace

std::optional<NeighbourMessage> parse_neighbour(const IcmpMessage& message) {
  const bool advertisement = message.type == kIcmpV6NeighbourAdvertisement;
  if (!advertisement && message.type != kIcmpV6NeighbourSolicitation) return std::nullopt;
  if (message.code != 0 || message.body.size() < kTargetSize) return std::nullopt;
  NeighbourMessage neighbour;
  neighbour.advertisement = advertisement;
  neighbour.overrides = advertisement && (message.rest & kOverride) != 0;
  neighbour.target = load_target(message.body);
  const std::uint8_t wanted = advertisement ? kTargetLinkLayer : kSourceLinkLayer;
  if (neighbour.target.is_multicast() ||
      !parse_options(message.body.subspan(kTargetSize), wanted, neighbour.link_layer)) {
    return std::nullopt;
  }
  return neighbour;
}

bool is_neighbour_discovery(const IpHeader& ip, ConstBytes payload) {
  constexpr std::uint8_t kRouterSolicitation = 133;
  if (ip.protocol != kProtocolIcmpV6 || ip.source.is_v4() || payload.empty()) return false;
  const std::uint8_t type = load_u8(payload.data());
  return type >= kRouterSolicitation && type <= kRedirect;
}

std::optional<IpAddress> advertised_neighbour(const IpHeader& ip, ConstBytes payload) {
  if (!is_neighbour_discovery(ip, payload) || payload.size() < kIcmpHeaderSize + kTargetSize) {
    return std::nullopt;
  }
  const std::uint8_t type = load_u8(payload.data());
  if (type != kIcmpV6NeighbourAdvertisement && type != kRedirect) return std::nullopt;
  return load_target(payload.subspan(kIcmpHeaderSize));
}

std::size_t write_neighbour(const IpHeader& ip, const NeighbourMessage& message, MutableBytes out) {
  SATRELAY_CHECK(!ip.source.is_v4() && !message.target.is_v4());
  std::array<std::byte, kTargetSize + kOptionUnit> body;
  ByteWriter writer(body);
  writer.bytes(std::as_bytes(std::span(message.target.octets())));
  if (message.link_layer) {
    writer.u8(message.advertisement ? kTargetLinkLayer : kSourceLinkLayer);
    writer.u8(1);
    writer.bytes(std::as_bytes(std::span(message.link_layer->octets)));
  }
  IcmpMessage icmp;
  icmp.type = message.advertisement ? kIcmpV6NeighbourAdvertisement : kIcmpV6NeighbourSolicitation;
  if (message.advertisement) {
    // An advertisement that answers a solicitation has a unicast destination here. An advertisement
    // to a multicast group is unsolicited.
    icmp.rest = ip.destination.is_multicast() ? kOverride : kSolicited | kOverride;
  }
  icmp.body = ConstBytes(body).first(writer.written());
  return write_icmp(ip, icmp, out);
}

}  // namespace satrelay::wire
