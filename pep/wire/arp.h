// ARP for IPv4 over Ethernet (RFC 826).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::wire {

inline constexpr std::size_t kArpSize = 28;

enum class ArpOperation : std::uint16_t { kRequest = 1, kReply = 2 };

struct ArpMessage {
  ArpOperation operation{};
  MacAddress sender_mac;
  IpAddress sender;  // IPv4
  MacAddress target_mac;
  IpAddress target;  // IPv4
};

// `payload` is the part of the frame after the Ethernet header. Returns nullopt unless it is a
// request or a reply for IPv4 over Ethernet.
std::optional<ArpMessage> parse_arp(ConstBytes payload);
// Returns the IPv4 address that a message binds to its sender's MAC. Accepts any operation and
// hardware type, because hosts learn addresses also from messages that parse_arp() does not accept.
// Returns nullopt if the message is not about IPv4 addresses.
std::optional<IpAddress> arp_sender(ConstBytes payload);
// Writes kArpSize bytes.
void write_arp(const ArpMessage& message, MutableBytes out);

}  // namespace satrelay::wire
