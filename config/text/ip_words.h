// Parses protocol, DSCP and VLAN of an IP packet, as rules and operators write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace satrelay::config {

// Parses "tcp", "udp", "icmp" (both versions) or a number. Returns an empty list for any other
// text.
std::vector<std::uint8_t> parse_protocol(std::string_view text);
inline constexpr std::string_view kProtocolHint =
    "write tcp, udp, icmp or a protocol's number, 0 to 255";

// Parses a DSCP: a number, or a name from RFC 2474, RFC 2597, RFC 3246, RFC 5865 or RFC 8622.
std::optional<std::uint8_t> parse_dscp(std::string_view text);
inline constexpr std::string_view kDscpHint =
    "write a number from 0 to 63 or a name: EF, VA, LE, CS0 to CS7, AF11 to AF43";

// Parses a VLAN id or "untagged".
std::optional<std::uint16_t> parse_vlan(std::string_view text);
inline constexpr std::string_view kVlanHint = "write a VLAN id from 1 to 4094, or untagged";

// Parses a decimal number that is at most `most`.
std::optional<std::uint16_t> parse_number(std::string_view digits, std::uint16_t most);

}  // namespace satrelay::config
