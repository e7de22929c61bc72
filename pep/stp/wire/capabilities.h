// Frames and messages that not every version understands. HELLO carries a bit for each
// (docs/stp-wire.md section 4). An end uses a capability only if both ends have offered it.
#pragma once

#include <cstdint>

namespace satrelay::stp {

// Do not use the bit 0x01: it belonged to an older error-correcting code with frames of type 0x42.
// The section numbers below refer to docs/stp.md.
inline constexpr std::uint32_t kCapabilityReception = 0x02;  // RECEPTION (section 7)
inline constexpr std::uint32_t kCapabilityRepair = 0x04;     // CODED and REPAIR (section 11)
inline constexpr std::uint32_t kCapabilityLanReports = 0x08;
// Messages about the TCP sequence numbers of bridged connections (section 15).
inline constexpr std::uint32_t kCapabilityEvidence = 0x10;
inline constexpr std::uint32_t kCapabilityOtherVlan = 0x20;  // RESET reason 13 (section 5)
// Urgent marks, in CONFIRM and in blocks (section 14).
inline constexpr std::uint32_t kCapabilityUrgent = 0x40;
// The MACs to which hosts address their frames (section 15).
inline constexpr std::uint32_t kCapabilityDestinations = 0x80;
// The hosts from which the other end accepts connections (section 15).
inline constexpr std::uint32_t kCapabilityAcceptedSources = 0x100;
// Blocks that say that a host has reset its connection (section 5).
inline constexpr std::uint32_t kCapabilityResetMarks = 0x200;
// The answers of hosts to keep-alives and zero-window probes (section 14).
inline constexpr std::uint32_t kCapabilityHostWords = 0x400;
// RESET reason 14, with its ICMP error (section 5).
inline constexpr std::uint32_t kCapabilityIcmp = 0x800;
// Messages about hosts of one LAN that have answered a probe on the other LAN (section 15).
inline constexpr std::uint32_t kCapabilityArrivals = 0x1000;
// Messages that ask the other end whether a host of its LAN has an address (section 15).
inline constexpr std::uint32_t kCapabilityBetween = 0x2000;

// A set of capabilities.
class Capabilities {
 public:
  constexpr Capabilities() = default;
  // `bits` has the layout of the field in HELLO.
  constexpr explicit Capabilities(std::uint32_t bits) : bits_(bits) {}

  constexpr bool reception() const { return has(kCapabilityReception); }
  constexpr bool repairs() const { return has(kCapabilityRepair); }
  constexpr bool lan_reports() const { return has(kCapabilityLanReports); }
  constexpr bool evidence() const { return has(kCapabilityEvidence); }
  constexpr bool other_vlan() const { return has(kCapabilityOtherVlan); }
  constexpr bool urgent_marks() const { return has(kCapabilityUrgent); }
  constexpr bool destinations() const { return has(kCapabilityDestinations); }
  constexpr bool accepted_sources() const { return has(kCapabilityAcceptedSources); }
  constexpr bool reset_marks() const { return has(kCapabilityResetMarks); }
  constexpr bool host_words() const { return has(kCapabilityHostWords); }
  constexpr bool icmp_refusals() const { return has(kCapabilityIcmp); }
  constexpr bool arrivals() const { return has(kCapabilityArrivals); }
  constexpr bool between_gateways() const { return has(kCapabilityBetween); }

 private:
  constexpr bool has(std::uint32_t bit) const { return (bits_ & bit) != 0; }

  std::uint32_t bits_ = 0;
};

}  // namespace satrelay::stp
