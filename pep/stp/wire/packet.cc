#include "pep/stp/wire/packet.h"

#include <array>

#include "pep/stp/wire/crc32c.h"

namespace satrelay::stp {

std::optional<PacketHeader> parse_header(ConstBytes datagram) {
  if (datagram.size() < kHeaderSize + 1 + kTrailerSize) return std::nullopt;
  const std::uint8_t first = load_u8(datagram.data());
  PacketHeader header;
  header.version = static_cast<std::uint8_t>(first >> 4);
  header.type = (first & 0x08U) != 0 ? PacketType::kHello : PacketType::kFrames;
  header.key_phase = (first & 0x04U) != 0;
  header.is_protected = (first & 0x02U) != 0;
  const unsigned reserved = header.type == PacketType::kHello ? 0x03U : 0x01U;
  if (header.version == kVersion && (first & reserved) != 0) return std::nullopt;
  header.lane = load_u8(datagram.data() + 1);
  header.session_tag = load_u16(datagram.data() + 2);
  header.number = load_u32(datagram.data() + 4);
  return header;
}

void write_header(const PacketHeader& header, std::byte* out) {
  store_u8(out, static_cast<std::uint8_t>((unsigned{header.version} << 4U) |
                                          (header.type == PacketType::kHello ? 0x08U : 0U) |
                                          (header.key_phase ? 0x04U : 0U) |
                                          (header.is_protected ? 0x02U : 0U)));
  store_u8(out + 1, header.lane);
  store_u16(out + 2, header.session_tag);
  store_u32(out + 4, header.number);
}

SessionSeal::SessionSeal(std::uint64_t sender_epoch, std::uint64_t receiver_epoch) {
  std::array<std::byte, 16> epochs;
  store_u64(epochs.data(), sender_epoch);
  store_u64(epochs.data() + 8, receiver_epoch);
  start_ = crc32c_update(kCrc32cStart, epochs);
  tag_ = static_cast<std::uint16_t>(start_ ^ (start_ >> 16));
}

std::uint32_t SessionSeal::checksum(ConstBytes header_and_frames) const {
  return crc32c_finish(crc32c_update(start_, header_and_frames));
}

void SessionSeal::close(MutableBytes packet) const {
  const std::size_t covered = packet.size() - kTrailerSize;
  store_u32(packet.data() + covered, checksum(packet.first(covered)));
}

bool SessionSeal::verify(ConstBytes packet) const {
  const std::size_t covered = packet.size() - kTrailerSize;
  return load_u32(packet.data() + covered) == checksum(packet.first(covered));
}

}  // namespace satrelay::stp
