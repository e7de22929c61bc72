// The frames of STP version 1: value types, parsers and writers (docs/stp-wire.md section 5). A
// parser accepts only what the specification allows, so all other code gets valid values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/units.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/capabilities.h"
#include "pep/stp/wire/feedback_frame.h"
#include "pep/stp/wire/repair_frame.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::stp {

enum class FrameType : std::uint8_t {
  kPadding = 0x00,
  kPing = 0x01,
  kSettled = 0x02,
  kFeedback = 0x03,
  kLaneCredit = 0x04,
  kStreamCredit = 0x05,
  kOpen = 0x06,
  kReset = 0x07,
  kClose = 0x08,
  kHello = 0x09,  // in HELLO packets only
  kData = 0x10,   // 0x10 to 0x13
  // Each frame with a type from here on has a 16-bit length, so a receiver can skip a frame that it
  // does not know.
  kExtension = 0x40,
  kRate = 0x43,
  kConfirm = 0x44,
  kReception = 0x45,
  kStartCredit = 0x46,
  kCoded = 0x47,
  kRepair = 0x48,
};
inline constexpr std::uint8_t kDataFin = 0x01;
inline constexpr std::uint8_t kDataHasLength = 0x02;

struct HelloFrame {
  std::uint8_t minimum_version = 0;
  std::uint8_t maximum_version = 0;
  bool opens_even_streams = false;
  bool answer_wanted = false;
  bool encrypts = false;  // whether HelloKeys follow
  std::uint8_t lane_count = 1;
  std::uint32_t capabilities = 0;
  std::uint64_t epoch = 0;
  std::uint64_t peer_epoch = 0;  // 0 if still unknown
  std::uint32_t echo = 0;  // number of the HELLO that this HELLO answers; 0 if it answers none
  std::uint16_t datagram_size = 0;
  std::uint64_t lane_credit = 0;
  std::uint64_t stream_credit = 0;
  friend bool operator==(const HelloFrame&, const HelloFrame&) = default;
};
inline constexpr std::size_t kHelloFrameSize = 51;
// A HELLO of an end that encrypts also contains messages of Noise handshakes (docs/stp-wire.md
// section 16).
struct HelloKeys {
  ConstBytes offer;   // message 1 of the sender's own handshake; may be empty
  ConstBytes accept;  // message 2, the answer to the receiver's newest offer; may be empty
  // Whether the HELLO ends with a MAC (HelloMac). Older builds do not send a MAC. write_hello()
  // only reserves space for the MAC.
  bool has_mac = false;
  // Name of the offer that `accept` answers: the first kOfferNameSize bytes of that offer.
  ConstBytes accepted = {};
};
// The first bytes of an offer are its name. They belong to the public key of the offer, which no
// other offer has.
inline constexpr std::size_t kOfferNameSize = 16;
inline constexpr std::size_t kHelloMacSize = 16;

struct PingFrame {
  std::uint64_t settled = 0;  // the receiver must report all packets from this number on
};
struct SettledFrame {
  // The sender of this frame needs no report on packets below this number.
  std::uint64_t settled = 0;
};
struct LaneCreditFrame {
  std::uint64_t limit = 0;
};
struct StreamCreditFrame {
  std::uint64_t stream = 0;
  std::uint64_t limit = 0;
};
struct OpenFrame {
  std::uint64_t stream = 0;
  ConstBytes metadata;
};
struct ResetFrame {
  std::uint64_t stream = 0;
  ResetReason reason = ResetReason::kNone;
  std::uint64_t final_size = 0;  // number of stream bytes that the sender of this frame has sent
  IcmpRefusal icmp = {};         // with ResetReason::kIcmp only
};
// The capacity of the direction from the receiver of this frame to its sender. Zero means the
// configured capacity.
struct RateFrame {
  std::uint64_t sequence = 0;  // number of the frame, counted from 1 in each session
  BitRate capacity;
};
// How many bytes of a stream may be sent before its first STREAM_CREDIT.
struct StartCreditFrame {
  std::uint64_t sequence = 0;  // number of the frame, counted from 1 in each session
  std::uint64_t limit = 0;
};
// How the machine that sends this frame has affected the packets of the next FEEDBACK frame.
struct ReceptionFrame {
  std::uint64_t missed = 0;  // number of packets of this session that the full port dropped
  // The longest time, in microseconds, that the newest packet may have waited at the port.
  std::uint64_t waited_us = 0;
};
struct ConfirmFrame {
  std::uint64_t stream = 0;
  std::uint64_t sequence = 0;  // number of the CONFIRM frame in its stream, counted from 1
  Confirmation confirmation;
};
struct CloseFrame {
  ResetReason reason = ResetReason::kNone;
};
struct DataFrame {
  std::uint64_t stream = 0;
  std::uint64_t offset = 0;
  bool fin = false;
  ConstBytes bytes;
};

// To be called after the type byte was read. The reader fails if the frame is malformed.
HelloFrame parse_hello(ByteReader& in, HelloKeys& keys);
OpenFrame parse_open(ByteReader& in);
ResetFrame parse_reset(ByteReader& in);
DataFrame parse_data(ByteReader& in, std::uint8_t type);
// Parses a packet that is a single DATA frame without a length; nullopt for any other packet.
std::optional<DataFrame> parse_only_data(ConstBytes frames);
// To be called after the length field was read. `body` holds the bytes that the length covers.
RateFrame parse_rate(ByteReader& body);
ConfirmFrame parse_confirm(ByteReader& body);
StartCreditFrame parse_start_credit(ByteReader& body);
ReceptionFrame parse_reception(ByteReader& body);

// `keys` are written only if `frame.encrypts` is set.
void write_hello(ByteWriter& out, const HelloFrame& frame, const HelloKeys& keys = {});
void write_ping(ByteWriter& out, const PingFrame& frame);
void write_settled(ByteWriter& out, const SettledFrame& frame);
void write_lane_credit(ByteWriter& out, const LaneCreditFrame& frame);
void write_stream_credit(ByteWriter& out, const StreamCreditFrame& frame);
void write_open(ByteWriter& out, const OpenFrame& frame);
void write_reset(ByteWriter& out, const ResetFrame& frame);
void write_close(ByteWriter& out, const CloseFrame& frame);
void write_rate(ByteWriter& out, const RateFrame& frame);
void write_confirm(ByteWriter& out, const ConfirmFrame& frame);
void write_start_credit(ByteWriter& out, const StartCreditFrame& frame);
void write_reception(ByteWriter& out, const ReceptionFrame& frame);

constexpr std::size_t open_frame_size(std::uint64_t stream, std::size_t metadata) {
  return 1 + varint_size(stream) + varint_size(metadata) + metadata;
}
// The size of type, stream and offset of a DATA frame. A length field is not included.
constexpr std::size_t data_header_size(std::uint64_t stream, std::uint64_t offset) {
  return 1 + varint_size(stream) + varint_size(offset);
}
inline constexpr std::size_t kDataLengthSize = 2;
// Type, code, size of the address, and the address.
inline constexpr std::size_t kMaxIcmpRefusalSize = 1 + 1 + 1 + 16;
inline constexpr std::size_t kMaxResetFrameSize =
    1 + kMaxVarintSize + 1 + kMaxVarintSize + kMaxIcmpRefusalSize;
inline constexpr std::size_t kMaxStreamCreditFrameSize = 1 + 2 * kMaxVarintSize;
inline constexpr std::size_t kMaxLaneCreditFrameSize = 1 + kMaxVarintSize;
inline constexpr std::size_t kMaxPingFrameSize = 1 + kMaxVarintSize;
inline constexpr std::size_t kMaxRateFrameSize = 1 + 2 + 2 * kMaxVarintSize;
inline constexpr std::size_t kMaxStartCreditFrameSize = 1 + 2 + 2 * kMaxVarintSize;
inline constexpr std::size_t kMaxReceptionFrameSize = 1 + 2 + 2 * kMaxVarintSize;
inline constexpr std::size_t kMaxConfirmFrameSize = 1 + 2 + 1 + 8 * kMaxVarintSize;

// Visits all frames of a session packet. Returns false if a frame is malformed. The visitor
// overloads operator()(const XFrame&) for each kind of frame, and has unknown(type). A packet is
// visited twice, first with IgnoreFrames, so that a malformed packet has no effect at all.
template <typename Visitor>
bool walk_frames(ConstBytes frames, Visitor&& visitor) {
  ByteReader in(frames);
  while (in.remaining() > 0) {
    const std::uint8_t type = in.u8();
    if ((type & 0xfcU) == static_cast<std::uint8_t>(FrameType::kData)) {
      const DataFrame frame = parse_data(in, type);
      if (in.ok()) visitor(frame);
    } else if (type >= static_cast<std::uint8_t>(FrameType::kExtension)) {
      ByteReader body(in.bytes(in.u16()));
      if (!in.ok()) return false;
      if (type == static_cast<std::uint8_t>(FrameType::kRate)) {
        const RateFrame frame = parse_rate(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else if (type == static_cast<std::uint8_t>(FrameType::kConfirm)) {
        const ConfirmFrame frame = parse_confirm(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else if (type == static_cast<std::uint8_t>(FrameType::kStartCredit)) {
        const StartCreditFrame frame = parse_start_credit(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else if (type == static_cast<std::uint8_t>(FrameType::kReception)) {
        const ReceptionFrame frame = parse_reception(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else if (type == static_cast<std::uint8_t>(FrameType::kCoded)) {
        const CodedFrame frame = parse_coded(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else if (type == static_cast<std::uint8_t>(FrameType::kRepair)) {
        const RepairFrame frame = parse_repair(body);
        if (!body.ok()) return false;
        visitor(frame);
      } else {
        visitor.unknown(type);
      }
    } else {
      switch (static_cast<FrameType>(type)) {
        case FrameType::kPadding:
          break;
        case FrameType::kPing: {
          const PingFrame frame{read_varint(in)};
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kSettled: {
          const SettledFrame frame{read_varint(in)};
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kFeedback: {
          const FeedbackFrame frame = parse_feedback(in);
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kLaneCredit: {
          const LaneCreditFrame frame{read_varint(in)};
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kStreamCredit: {
          StreamCreditFrame frame;
          frame.stream = read_varint(in);
          frame.limit = read_varint(in);
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kOpen: {
          const OpenFrame frame = parse_open(in);
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kReset: {
          const ResetFrame frame = parse_reset(in);
          if (in.ok()) visitor(frame);
          break;
        }
        case FrameType::kClose: {
          const CloseFrame frame{static_cast<ResetReason>(in.u8())};
          if (in.ok()) visitor(frame);
          break;
        }
        default:
          return false;
      }
    }
    if (!in.ok()) return false;
  }
  return true;
}

struct IgnoreFrames {
  template <typename Frame>
  void operator()(const Frame&) const {}
  void unknown(std::uint8_t) const {}
};

}  // namespace satrelay::stp
