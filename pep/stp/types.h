// Types that all parts of a session share with its user: streams, the peer, events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/image/image.h"

namespace satrelay::stp {

// Streams that this gateway opened and streams that the peer opened share one number space. One
// gateway opens even ids, the other odd ids (Config::opens_even_streams). An id is never reused
// while a Session lives, not even after a restart of the peer.
enum class StreamId : std::uint64_t {};

// The rest of a stream, behind the bytes that its writer is known to have.
enum class Behind : std::uint8_t {
  kUnknown,
  kNothing,  // for now: the stream ends or pauses
  kMore,     // the writer is held back, and has more than it tells
};

// The most bytes of metadata that an OPEN may carry for the far relay.
inline constexpr std::size_t kMaxMetadata = 256;

enum class PeerState : std::uint8_t {
  kConnecting,  // no peer has proved yet to be there
  kAlive,
  // Silent for longer than `suspect_after`; streams opened now wait until the peer is heard.
  kSuspect,
  kRefused,  // the peer speaks no version of ours, or its configuration does not fit ours
  kClosed,   // CLOSE sent or received
};
const char* to_string(PeerState state);

// Carried by RESET. Part of the wire format.
enum class ResetReason : std::uint8_t {
  kNone = 0,
  kHostReset = 1,      // the host on the sender's LAN sent RST
  kRefused = 2,        // the far host answered the SYN with RST
  kUnreachable = 3,    // the SYNs got no answer, and no ICMP error
  kTimeout = 4,        // a host went silent
  kNoResources = 5,    // flow table or arena full
  kPolicy = 6,         // a rule of the receiver refuses the flow
  kProtocolError = 7,  // malformed block or OPEN
  kPeerRestart = 8,    // never sent and no longer used; the number is reserved
  // Not sent by this build: a frame named a stream that the sender of this RESET does not have.
  kUnknownStream = 9,
  kShutdown = 10,   // the gateway stops
  kNoRoute = 11,    // kIcmp or kOtherVlan, for a peer without that capability
  kInUse = 12,      // the far host has a connection with these addresses and ports
  kOtherVlan = 13,  // the far host answered the SYN in another VLAN; needs its capability
  kIcmp = 14,       // an ICMP error ended the attempt (IcmpRefusal); needs its capability
};
const char* to_string(ResetReason reason);

// RESET reason 14: the ICMP error (RFC 792, RFC 4443) that answered the SYN to the far host.
struct IcmpRefusal {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  // nullopt: the error is the far gateway's own, as it has not found the host on its LAN.
  std::optional<IpAddress> sender = {};
  void image(Image& image) { image(type, code, sender); }
  friend bool operator==(const IcmpRefusal&, const IcmpRefusal&) = default;
};

// Forward error correction (docs/stp.md section 11). kAuto: as the path needs it, if the peer
// supports it.
enum class FecMode : std::uint8_t { kAuto, kOff };

// The place of urgent data of the far host: up to the plain byte before `mark`. `after` is the mark
// before that, 0 if there was none. No other mark lies between them.
struct UrgentNotice {
  std::uint64_t after = 0;
  std::uint64_t mark = 0;  // 0: there is no mark
  void image(Image& image) { image(after, mark); }
  friend bool operator==(const UrgentNotice&, const UrgentNotice&) = default;
};

// The answer of the far host to its gateway's question whether it is still there.
struct HostAnswer {
  std::uint64_t question = 0;  // the latest question that this answers; 0: none was answered
  bool silent = false;         // the host did not answer
  void image(Image& image) { image(question, silent); }
  friend bool operator==(const HostAnswer&, const HostAnswer&) = default;
};

// The state of a stream's far host, as its gateway tells it (docs/stp.md section 14).
struct Confirmation {
  bool answered = false;        // the host has answered the SYN: the connection stands
  bool ended = false;           // the host has acknowledged the last byte and the FIN
  std::uint64_t delivered = 0;  // plain bytes that the host has acknowledged
  std::uint64_t window = 0;     // bytes that the host offers beyond them
  // How often the host has asked whether its peer is still there.
  std::uint64_t keep_alives = 0;
  UrgentNotice urgent = {};  // needs its capability
  HostAnswer word = {};      // needs its capability
  void image(Image& image) { image(answered, ended, delivered, window, keep_alives, urgent, word); }
  friend bool operator==(const Confirmation&, const Confirmation&) = default;
};

// When an end reports which packets have arrived (docs/stp.md section 7).
enum class FeedbackMode : std::uint8_t {
  kAdaptive,  // as often as the budget allows, at once on a new gap
  kHpfp,      // every 200 ms, as HpFP does
  kMNack,     // once a round trip, as TP-S does
};

// An event that the session reports to the relay.
struct Event {
  enum class Kind : std::uint8_t {
    kPeerAlive,  // established, or heard again after kPeerSuspect or doubts_peer()
    kPeerSuspect,
    kPeerRestarted,  // new boot epoch: every stream is already gone, and no kReset follows
    kPeerClosed,     // the peer sent CLOSE: every stream is already gone, and no kReset follows
    kOpened,         // the peer has opened a stream; metadata() holds what its OPEN carried
    kReadable,       // new in-order bytes, or the end of the stream
    kWritable,       // now there is the room that the writer lacked
    kReset,          // the peer reset the stream; it is gone once the event is polled
    kCapacity,       // peer_capacity() has changed
    kConfirmed,      // confirmation() has changed, or confirmed() has become true
    kDelivered,      // everything written and finish() were acknowledged by the peer's session
  };
  Kind kind{};
  StreamId stream{};
  std::uint32_t context = 0;  // the value of open() or set_context(); 0 in kOpened
  ResetReason reason = ResetReason::kNone;
  IcmpRefusal icmp = {};  // with ResetReason::kIcmp
};

// Blocks of the arena that the streams hold.
struct BlocksHeld {
  std::size_t to_peer = 0;    // written, and not freed yet
  std::size_t from_peer = 0;  // received, and not consumed yet
  std::size_t reserves = 0;   // reserves, each a part of a block
};

}  // namespace satrelay::stp
