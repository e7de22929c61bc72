// ICMP (RFC 792), ICMPv6 (RFC 4443) and the two messages of Neighbour Discovery (RFC 4861) that a
// gateway with one address needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ip.h"

namespace satrelay::wire {

inline constexpr std::size_t kIcmpHeaderSize = 8;

inline constexpr std::uint8_t kIcmpEchoReply = 0;
inline constexpr std::uint8_t kIcmpUnreachable = 3;
inline constexpr std::uint8_t kIcmpFragmentationNeeded = 4;  // code of kIcmpUnreachable
inline constexpr std::uint8_t kIcmpEchoRequest = 8;
inline constexpr std::uint8_t kIcmpTimeExceeded = 11;
inline constexpr std::uint8_t kIcmpParameterProblem = 12;

inline constexpr std::uint8_t kIcmpV6Unreachable = 1;
inline constexpr std::uint8_t kIcmpV6PacketTooBig = 2;
inline constexpr std::uint8_t kIcmpV6TimeExceeded = 3;
inline constexpr std::uint8_t kIcmpV6ParameterProblem = 4;
inline constexpr std::uint8_t kIcmpV6EchoRequest = 128;
inline constexpr std::uint8_t kIcmpV6EchoReply = 129;
inline constexpr std::uint8_t kIcmpV6NeighbourSolicitation = 135;
inline constexpr std::uint8_t kIcmpV6NeighbourAdvertisement = 136;

struct IcmpMessage {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  // Second word of the header: echo id and sequence number, or next-hop MTU.
  std::uint32_t rest = 0;
  ConstBytes body{};  // after the 8-byte header
};

// `payload` is all that the length field of `ip` covers, without Ethernet padding. Returns nullopt
// if the message is short or its checksum is wrong. For ICMPv6, the checksum includes the
// pseudo-header of `ip`.
std::optional<IcmpMessage> parse_icmp(const IpHeader& ip, ConstBytes payload);
// Writes header, body and checksum. Returns the size written. `ip` provides version and addresses.
std::size_t write_icmp(const IpHeader& ip, const IcmpMessage& message, MutableBytes out);

// The transport flow that an ICMP error quotes. `source` is the sender of the packet that failed.
struct QuotedFlow {
  IpAddress source;
  IpAddress destination;
  std::uint8_t protocol = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;  // TCP only; it is in the first eight quoted octets
};
bool is_icmp_error(const IpHeader& ip, const IcmpMessage& message);
// Returns nullopt if the quotation is too short, or quotes a fragment other than the first. Ports
// are zero for protocols without ports.
std::optional<QuotedFlow> parse_quoted_flow(const IpHeader& ip, const IcmpMessage& error);

struct NeighbourMessage {
  bool advertisement = false;  // if false, a solicitation
  IpAddress target{};
  std::optional<MacAddress> link_layer{};  // source (solicitation) or target (advertisement) option
  // Whether a parsed advertisement has the Override flag. Hosts then replace the link-layer address
  // that they know for the target (section 7.2.5).
  bool overrides = false;
};
// Returns nullopt unless the message is a well-formed neighbour solicitation or advertisement. The
// caller must check that the hop limit is 255 (section 7.1).
std::optional<NeighbourMessage> parse_neighbour(const IcmpMessage& message);
// Whether a packet is a message of RFC 4861: a router or neighbour solicitation or advertisement,
// or a redirect.
bool is_neighbour_discovery(const IpHeader& ip, ConstBytes payload);
// Returns the address that an advertisement or a redirect binds to a link-layer address; nullopt
// for any other message. Checks neither the checksum nor the options.
std::optional<IpAddress> advertised_neighbour(const IpHeader& ip, ConstBytes payload);
// Writes the ICMPv6 message with flags, link-layer option and checksum. `ip` provides the
// addresses. A solicited advertisement sets the flags S and O. Returns the size written.
std::size_t write_neighbour(const IpHeader& ip, const NeighbourMessage& message, MutableBytes out);

}  // namespace satrelay::wire
