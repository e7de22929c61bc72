// Words that all parts of a session share, and its user: of streams, of the peer, of what happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"

namespace satrelay::stp {

// Streams that this gateway opened and those that the peer opened live in one space: one gateway
// opens even ids, the other odd ones (Config::opens_even_streams). Never reused while a Session
// lives, not even after a restart of the peer.
enum class StreamId : std::uint64_t {};

// What follows the bytes of a stream that its writer is known to have.
enum class Behind : std::uint8_t {
  kUnknown,
  kNothing,  // for now: it ends or pauses
  kMore,     // the writer is held back, so that it has more than it tells
};

// Bytes that an OPEN may carry for the far relay.
inline constexpr std::size_t kMaxMetadata = 256;

enum class PeerState : std::uint8_t {
  kConnecting,  // no HELLO answered yet, or a restarted peer is greeted anew
  kAlive,
  kSuspect,  // silent for longer than `suspect_after`: what is opened now waits until it is heard
  kRefused,  // the peer speaks no version of ours, or is set up unlike us
  kClosed,   // CLOSE sent or received
};
const char* to_string(PeerState state);

// Carried by RESET; part of the wire format.
enum class ResetReason : std::uint8_t {
  kNone = 0,
  kHostReset = 1,      // the host on the sender's LAN sent RST
  kRefused = 2,        // the far host answered the SYN with RST
  kUnreachable = 3,    // SYNs unanswered, and nobody says why
  kTimeout = 4,        // a host went silent
  kNoResources = 5,    // flow table or arena full
  kPolicy = 6,         // a rule of the receiver refuses the flow
  kProtocolError = 7,  // malformed block or OPEN
  kPeerRestart = 8,    // never sent: reported locally on a new boot epoch
  kUnknownStream = 9,  // a frame named a stream that the sender of this RESET does not have
  kShutdown = 10,      // the gateway stops
  kNoRoute = 11,       // an ICMP error has ended the attempt, and the peer does not know kIcmp
  kInUse = 12,         // the far host has a connection with these addresses and ports
  kOtherVlan = 13,     // the far host answered the SYN in another VLAN; needs its capability
  kIcmp = 14,          // an ICMP error has ended the attempt (IcmpRefusal); needs its capability
};
const char* to_string(ResetReason reason);

// RESET reason 14: the ICMP error (RFC 792, RFC 4443) about the SYN to the far host.
struct IcmpRefusal {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  // nullopt: the far gateway says so itself, as it has not found the host on its LAN.
  std::optional<IpAddress> sender = {};
  friend bool operator==(const IcmpRefusal&, const IcmpRefusal&) = default;
};

// Forward error correction (docs/stp.md section 11): as the path needs it, if the peer takes part.
enum class FecMode : std::uint8_t { kAuto, kOff };

// Where the far host's data is urgent: up to the plain byte before `mark`. `after` is the mark
// before it, 0 if there was none: no other lies between them.
struct UrgentNotice {
  std::uint64_t after = 0;
  std::uint64_t mark = 0;  // 0: there is none
  friend bool operator==(const UrgentNotice&, const UrgentNotice&) = default;
};

// The far gateway has asked its host whether it is still there, and says the answer.
struct HostAnswer {
  std::uint64_t question = 0;  // the latest that this answers; 0: none has been answered
  bool silent = false;         // the host did not answer
  friend bool operator==(const HostAnswer&, const HostAnswer&) = default;
};

// What the far host of a stream has done, as its gateway tells (docs/stp.md section 14).
struct Confirmation {
  bool answered = false;        // it has answered the SYN: the connection stands
  bool ended = false;           // it has acknowledged the last byte and the FIN
  std::uint64_t delivered = 0;  // plain bytes that it has acknowledged
  std::uint64_t window = 0;     // bytes that it offers beyond them
  // How often it has asked whether its peer is still there.
  std::uint64_t keep_alives = 0;
  UrgentNotice urgent = {};  // needs its capability
  HostAnswer word = {};      // needs its capability
  friend bool operator==(const Confirmation&, const Confirmation&) = default;
};

// When an end reports what has arrived (docs/stp.md section 7).
enum class FeedbackMode : std::uint8_t {
  kAdaptive,  // as often as the budget allows, at once on a new gap
  kHpfp,      // every 200 ms, as HpFP does
  kMNack,     // once a round trip, as TP-S does
};

// What the relay learns from the session.
struct Event {
  enum class Kind : std::uint8_t {
    kPeerAlive,  // HELLO answered, or heard again after kPeerSuspect, or while it was doubted
    kPeerSuspect,
    kPeerRestarted,  // new boot epoch: every stream is gone already (no kReset follows)
    kPeerClosed,     // the peer sent CLOSE: every stream is gone already (no kReset follows)
    kOpened,         // a peer-opened stream; metadata() holds what its OPEN carried
    kReadable,       // new in-order bytes, or the end of the stream
    kWritable,       // there is the room that the writer has lacked
    kReset,          // the peer reset the stream; it is gone once the event is polled
    kCapacity,       // peer_capacity() has changed
    kConfirmed,      // confirmation() has changed, or confirmed() has become true
    kDelivered,      // everything written and finish() were acknowledged by the peer's session
  };
  Kind kind{};
  StreamId stream{};
  std::uint32_t context = 0;  // as set by open_stream() or set_context(); 0 in kOpened
  ResetReason reason = ResetReason::kNone;
  IcmpRefusal icmp = {};  // with ResetReason::kIcmp
};

// Blocks of the arena that the streams hold.
struct BlocksHeld {
  std::size_t to_peer = 0;    // written and not yet forgotten
  std::size_t from_peer = 0;  // received and not yet consumed
  std::size_t reserves = 0;   // no blocks, but parts of some
};

}  // namespace satrelay::stp
