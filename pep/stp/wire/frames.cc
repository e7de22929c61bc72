#include "pep/stp/wire/frames.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace satrelay::stp {

namespace {

constexpr std::uint8_t kHelloOpensEven = 0x01;
constexpr std::uint8_t kHelloAnswerWanted = 0x02;
constexpr std::uint8_t kHelloEncrypts = 0x04;
constexpr std::uint8_t kConfirmAnswered = 0x01;
constexpr std::uint8_t kConfirmEnded = 0x02;
constexpr std::uint8_t kConfirmSilent = 0x04;
constexpr std::uint16_t kHelloBodySize = kHelloFrameSize - 3;

std::uint8_t type_byte(FrameType type) { return static_cast<std::uint8_t>(type); }

// The ICMP error in a RESET with reason 14 (docs/stp-wire.md section 5).
//
//   +------+------+------------------------+---------+
//   | Type | Code | Size of the address: 0, | Sender  |
//   |      |      | 4 or 16                | address |
//   +------+------+------------------------+---------+
IcmpRefusal parse_icmp_refusal(ByteReader& in) {
  IcmpRefusal refusal;
  refusal.type = in.u8();
  refusal.code = in.u8();
  const std::uint8_t size = in.u8();
  if (size != 0 && size != 4 && size != 16) fail(in);
  const ConstBytes address = in.bytes(size);
  if (!in.ok() || size == 0) return refusal;
  std::array<std::uint8_t, 16> octets{};
  std::memcpy(octets.data(), address.data(), address.size());
  refusal.sender = size == 4 ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                             : IpAddress::v6(octets);
  return refusal;
}

void write_icmp_refusal(ByteWriter& out, const IcmpRefusal& refusal) {
  out.u8(refusal.type);
  out.u8(refusal.code);
  const std::size_t size = refusal.sender ? refusal.sender->size() : 0;
  out.u8(static_cast<std::uint8_t>(size));
  if (size > 0) out.bytes(std::as_bytes(std::span(refusal.sender->octets())).first(size));
}

}  // namespace

// HELLO: its fields have the same positions in every version (docs/stp-wire.md section 4).
//
//   +------+---------+-----+-----+-------+-------+--------------+
//   | 0x09 | Length  | Min | Max | Flags | Lanes | Capabilities |
//   |  1   |   2     |  1  |  1  |   1   |   1   |      4       |
//   +------+-----+---+-----+-----+---+---+-------+--+-----------+---+----------------+
//   | Boot epoch | Peer epoch | Echo | Size | Zero  | Lane credit  | Stream credit  |
//   |     8      |     8      |  4   |  2   |  2    |      8       |       8        |
//   +------------+-+-------+--+------+------+---+----+--------------+----------------+
//   | Offer length | Offer | Accept len.| Accept |  if the sender encrypts
//   |      2       |       |      2     |        |
//   +--------------+-------+------------+--------+
//   | Accepted offer | ... | MAC |  if the sender encrypts; the MAC is the last field. Early
//   |       16       |     | 16  |  builds do not send these fields.
//   +----------------+-----+-----+
HelloFrame parse_hello(ByteReader& in, HelloKeys& keys) {
  HelloFrame frame;
  // Later versions may append fields to the body, so the parser skips the rest.
  ByteReader body(in.bytes(in.u16()));
  frame.minimum_version = body.u8();
  frame.maximum_version = body.u8();
  const std::uint8_t flags = body.u8();
  frame.opens_even_streams = (flags & kHelloOpensEven) != 0;
  frame.answer_wanted = (flags & kHelloAnswerWanted) != 0;
  frame.encrypts = (flags & kHelloEncrypts) != 0;
  frame.lane_count = body.u8();
  frame.capabilities = body.u32();
  frame.epoch = body.u64();
  frame.peer_epoch = body.u64();
  frame.echo = body.u32();
  frame.datagram_size = body.u16();
  body.u16();
  frame.lane_credit = body.u64();
  frame.stream_credit = body.u64();
  if (frame.encrypts) {
    keys.offer = body.bytes(body.u16());
    keys.accept = body.bytes(body.u16());
    keys.has_mac = body.remaining() >= kOfferNameSize + kHelloMacSize;
    if (keys.has_mac && !keys.accept.empty()) keys.accepted = body.bytes(kOfferNameSize);
  }
  const bool valid = body.ok() && frame.epoch != 0 && frame.lane_count != 0 &&
                     frame.minimum_version <= frame.maximum_version &&
                     frame.lane_credit <= kMaxVarint && frame.stream_credit <= kMaxVarint;
  if (!valid) fail(in);
  return frame;
}

void write_hello(ByteWriter& out, const HelloFrame& frame, const HelloKeys& keys) {
  const std::size_t mac_size = keys.has_mac ? kOfferNameSize + kHelloMacSize : 0;
  const std::size_t keys_size =
      frame.encrypts ? 4 + keys.offer.size() + keys.accept.size() + mac_size : 0;
  out.u8(type_byte(FrameType::kHello));
  out.u16(static_cast<std::uint16_t>(kHelloBodySize + keys_size));
  out.u8(frame.minimum_version);
  out.u8(frame.maximum_version);
  out.u8(static_cast<std::uint8_t>((frame.opens_even_streams ? kHelloOpensEven : 0U) |
                                   (frame.answer_wanted ? kHelloAnswerWanted : 0U) |
                                   (frame.encrypts ? kHelloEncrypts : 0U)));
  out.u8(frame.lane_count);
  out.u32(frame.capabilities);
  out.u64(frame.epoch);
  out.u64(frame.peer_epoch);
  out.u32(frame.echo);
  out.u16(frame.datagram_size);
  out.u16(0);
  out.u64(frame.lane_credit);
  out.u64(frame.stream_credit);
  if (!frame.encrypts) return;
  out.u16(static_cast<std::uint16_t>(keys.offer.size()));
  out.bytes(keys.offer);
  out.u16(static_cast<std::uint16_t>(keys.accept.size()));
  out.bytes(keys.accept);
  const MutableBytes rest = out.reserve(mac_size);
  std::ranges::fill(rest, std::byte{0});
  std::ranges::copy(keys.accepted, rest.begin());
}

OpenFrame parse_open(ByteReader& in) {
  OpenFrame frame;
  frame.stream = read_varint(in);
  const std::uint64_t size = read_varint(in);
  if (size > kMaxMetadata) {
    fail(in);
    return frame;
  }
  frame.metadata = in.bytes(static_cast<std::size_t>(size));
  return frame;
}

void write_open(ByteWriter& out, const OpenFrame& frame) {
  out.u8(type_byte(FrameType::kOpen));
  write_varint(out, frame.stream);
  write_varint(out, frame.metadata.size());
  out.bytes(frame.metadata);
}

ResetFrame parse_reset(ByteReader& in) {
  ResetFrame frame;
  frame.stream = read_varint(in);
  frame.reason = static_cast<ResetReason>(in.u8());
  frame.final_size = read_varint(in);
  if (frame.reason == ResetReason::kIcmp) frame.icmp = parse_icmp_refusal(in);
  return frame;
}

void write_reset(ByteWriter& out, const ResetFrame& frame) {
  out.u8(type_byte(FrameType::kReset));
  write_varint(out, frame.stream);
  out.u8(static_cast<std::uint8_t>(frame.reason));
  write_varint(out, frame.final_size);
  if (frame.reason == ResetReason::kIcmp) write_icmp_refusal(out, frame.icmp);
}

DataFrame parse_data(ByteReader& in, std::uint8_t type) {
  DataFrame frame;
  frame.stream = read_varint(in);
  frame.offset = read_varint(in);
  frame.fin = (type & kDataFin) != 0;
  const std::size_t size = (type & kDataHasLength) != 0 ? in.u16() : in.remaining();
  frame.bytes = in.bytes(size);
  // An empty frame is allowed only at the end of its stream.
  if ((size == 0 && !frame.fin) || frame.offset > kMaxVarint - size) fail(in);
  return frame;
}

std::optional<DataFrame> parse_only_data(ConstBytes frames) {
  ByteReader in(frames);
  const std::uint8_t type = in.u8();
  const auto kind = static_cast<unsigned>(type) & ~static_cast<unsigned>(kDataFin);
  if (kind != static_cast<unsigned>(FrameType::kData)) return std::nullopt;
  const DataFrame frame = parse_data(in, type);
  return in.ok() ? std::optional(frame) : std::nullopt;
}

RateFrame parse_rate(ByteReader& body) {
  RateFrame frame;
  frame.sequence = read_varint(body);
  frame.capacity = BitRate::bits_per_second(read_varint(body));
  if (frame.sequence == 0) fail(body);
  return frame;
}

void write_rate(ByteWriter& out, const RateFrame& frame) {
  const std::uint64_t bits = frame.capacity.to_bits_per_second();
  out.u8(type_byte(FrameType::kRate));
  out.u16(static_cast<std::uint16_t>(varint_size(frame.sequence) + varint_size(bits)));
  write_varint(out, frame.sequence);
  write_varint(out, bits);
}

StartCreditFrame parse_start_credit(ByteReader& body) {
  StartCreditFrame frame;
  frame.sequence = read_varint(body);
  frame.limit = read_varint(body);
  if (frame.sequence == 0) fail(body);
  return frame;
}

void write_start_credit(ByteWriter& out, const StartCreditFrame& frame) {
  out.u8(type_byte(FrameType::kStartCredit));
  out.u16(static_cast<std::uint16_t>(varint_size(frame.sequence) + varint_size(frame.limit)));
  write_varint(out, frame.sequence);
  write_varint(out, frame.limit);
}

ReceptionFrame parse_reception(ByteReader& body) {
  ReceptionFrame frame;
  frame.missed = read_varint(body);
  frame.waited_us = read_varint(body);
  return frame;
}

void write_reception(ByteWriter& out, const ReceptionFrame& frame) {
  out.u8(type_byte(FrameType::kReception));
  out.u16(static_cast<std::uint16_t>(varint_size(frame.missed) + varint_size(frame.waited_us)));
  write_varint(out, frame.missed);
  write_varint(out, frame.waited_us);
}

// The body may end with fields that a later version has appended. The parser ignores them.
ConfirmFrame parse_confirm(ByteReader& body) {
  ConfirmFrame frame;
  frame.stream = read_varint(body);
  frame.sequence = read_varint(body);
  const std::uint8_t flags = body.u8();
  frame.confirmation.answered = (flags & kConfirmAnswered) != 0;
  frame.confirmation.ended = (flags & kConfirmEnded) != 0;
  frame.confirmation.delivered = read_varint(body);
  frame.confirmation.window = read_varint(body);
  if (body.remaining() > 0) frame.confirmation.keep_alives = read_varint(body);
  if (body.remaining() > 0) {
    frame.confirmation.urgent.after = read_varint(body);
    frame.confirmation.urgent.mark = read_varint(body);
  }
  if (body.remaining() > 0) {
    frame.confirmation.word.question = read_varint(body);
    frame.confirmation.word.silent =
        frame.confirmation.word.question > 0 && (flags & kConfirmSilent) != 0;
  }
  if (frame.sequence == 0) fail(body);
  return frame;
}

void write_confirm(ByteWriter& out, const ConfirmFrame& frame) {
  const Confirmation& c = frame.confirmation;
  out.u8(type_byte(FrameType::kConfirm));
  const bool has_word = c.word.question > 0;
  const bool has_urgent = c.urgent.mark > 0 || has_word;
  const bool has_keep_alives = c.keep_alives > 0 || has_urgent;
  const std::size_t last =
      (has_keep_alives ? varint_size(c.keep_alives) : 0) +
      (has_urgent ? varint_size(c.urgent.after) + varint_size(c.urgent.mark) : 0) +
      (has_word ? varint_size(c.word.question) : 0);
  out.u16(static_cast<std::uint16_t>(varint_size(frame.stream) + varint_size(frame.sequence) + 1 +
                                     varint_size(c.delivered) + varint_size(c.window) + last));
  write_varint(out, frame.stream);
  write_varint(out, frame.sequence);
  out.u8(static_cast<std::uint8_t>((c.answered ? kConfirmAnswered : 0U) |
                                   (c.ended ? kConfirmEnded : 0U) |
                                   (has_word && c.word.silent ? kConfirmSilent : 0U)));
  write_varint(out, c.delivered);
  write_varint(out, c.window);
  if (has_keep_alives) write_varint(out, c.keep_alives);
  if (!has_urgent) return;
  write_varint(out, c.urgent.after);
  write_varint(out, c.urgent.mark);
  if (has_word) write_varint(out, c.word.question);
}

void write_ping(ByteWriter& out, const PingFrame& frame) {
  out.u8(type_byte(FrameType::kPing));
  write_varint(out, frame.settled);
}

void write_settled(ByteWriter& out, const SettledFrame& frame) {
  out.u8(type_byte(FrameType::kSettled));
  write_varint(out, frame.settled);
}

void write_lane_credit(ByteWriter& out, const LaneCreditFrame& frame) {
  out.u8(type_byte(FrameType::kLaneCredit));
  write_varint(out, frame.limit);
}

void write_stream_credit(ByteWriter& out, const StreamCreditFrame& frame) {
  out.u8(type_byte(FrameType::kStreamCredit));
  write_varint(out, frame.stream);
  write_varint(out, frame.limit);
}

void write_close(ByteWriter& out, const CloseFrame& frame) {
  out.u8(type_byte(FrameType::kClose));
  out.u8(static_cast<std::uint8_t>(frame.reason));
}

}  // namespace satrelay::stp
