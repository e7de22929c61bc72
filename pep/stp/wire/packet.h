// The header that starts every STP packet and the checksum that ends it (docs/stp-wire.md section
// 3).
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+-+-+---+---------------+-------------------------------+
//   |Version|T|K|P|0|     Lane      |          Session tag          |
//   +-------+-+-+---+---------------+-------------------------------+
//   |                  Packet number (low 32 bits)                  |
//   +---------------------------------------------------------------+
//   |  Frames ...                                                   |
//   +---------------------------------------------------------------+
//   |                            CRC32C                             |
//   +---------------------------------------------------------------+
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"

namespace satrelay::stp {

inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHeaderSize = 8;
inline constexpr std::size_t kTrailerSize = 4;
inline constexpr std::size_t kMinDatagram = 512;  // the largest OPEN must fit into it

enum class PacketType : std::uint8_t {
  kFrames = 0,  // a numbered packet of a session
  kHello = 1,   // a packet outside any session, with the number of the HELLO
};

struct PacketHeader {
  std::uint8_t version = kVersion;
  PacketType type = PacketType::kFrames;
  bool key_phase = false;
  // An error-correcting code covers this packet. So the receiver keeps a copy of the packet, which
  // it needs to use REPAIR frames.
  bool is_protected = false;
  std::uint8_t lane = 0;
  std::uint16_t session_tag = 0;
  std::uint32_t number = 0;
  friend bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

// Returns nullopt if the datagram is too short for header, one byte of frames and trailer, or if a
// packet of our version has reserved bits set.
std::optional<PacketHeader> parse_header(ConstBytes datagram);
// Writes kHeaderSize bytes.
void write_header(const PacketHeader& header, std::byte* out);

// Binds a packet to one direction of one session. The calculation of the checksum starts with the
// boot epochs of both ends. So a packet of another session fails the check even if its 16-bit tag
// is the same by chance. With encryption, the key of the AEAD has the same effect.
class SessionSeal {
 public:
  SessionSeal() = default;  // for HELLO packets
  SessionSeal(std::uint64_t sender_epoch, std::uint64_t receiver_epoch);

  std::uint16_t tag() const { return tag_; }
  // Writes the trailer of a packet that already has its header and frames.
  void close(MutableBytes packet) const;
  // Whether the trailer is correct.
  bool verify(ConstBytes packet) const;

 private:
  std::uint32_t checksum(ConstBytes header_and_frames) const;
  std::uint32_t start_ = 0xffff'ffffU;
  std::uint16_t tag_ = 0;
};

// The frames of a packet, without header and trailer. `packet` must have passed parse_header().
inline ConstBytes frames_of(ConstBytes packet) {
  return packet.subspan(kHeaderSize, packet.size() - kHeaderSize - kTrailerSize);
}

}  // namespace satrelay::stp
