// Types that all parts of a session and the relay use: streams, the peer, events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/image/image.h"

namespace satrelay::stp {

// The streams of both gateways have ids from one number space. One gateway opens streams with even
// ids, the other with odd ids (Config::opens_even_streams). A Session never reuses an id, not even
// after a restart of the peer.
enum class StreamId : std::uint64_t {};

// Says what follows the bytes that the writer of a stream has announced.
enum class Behind : std::uint8_t {
  kUnknown,
  kNothing,  // nothing for now: the stream ends or pauses
  kMore,     // more bytes, which the writer has not announced
};

// Maximum number of bytes of metadata in an OPEN, for the far relay.
inline constexpr std::size_t kMaxMetadata = 256;

enum class PeerState : std::uint8_t {
  kConnecting,  // no peer has proved its presence yet
  kAlive,
  // The peer was silent for longer than `suspect_after`. New streams wait until a packet of the
  // peer arrives.
  kSuspect,
  kRefused,  // the peer has no common version with us, or its configuration does not fit ours
  kClosed,   // CLOSE was sent or received
};
const char* to_string(PeerState state);

// Reasons in RESET frames. They are part of the wire format.
enum class ResetReason : std::uint8_t {
  kNone = 0,
  kHostReset = 1,      // the host behind the gateway that sends the RESET sent RST
  kRefused = 2,        // the far host answered the SYN with RST
  kUnreachable = 3,    // no answer to the SYNs, and no ICMP error
  kTimeout = 4,        // a host no longer answers
  kNoResources = 5,    // the flow table or the arena is full
  kPolicy = 6,         // a rule of the receiver forbids the flow
  kProtocolError = 7,  // malformed block or OPEN
  kPeerRestart = 8,    // never sent; the number stays reserved
  // A frame named a stream that the sender of this RESET does not have. This build does not send
  // it.
  kUnknownStream = 9,
  kShutdown = 10,   // the gateway stops
  kNoRoute = 11,    // sent to a peer that does not know kIcmp or kOtherVlan
  kInUse = 12,      // the far host already has a connection with these addresses and ports
  kOtherVlan = 13,  // the SYN was answered in another VLAN; sent only to peers that know kOtherVlan
  // An ICMP error ended the attempt (IcmpRefusal). Sent only to peers that know kIcmp.
  kIcmp = 14,
};
const char* to_string(ResetReason reason);

// For ResetReason::kIcmp: the ICMP error (RFC 792, RFC 4443) that answered the SYN to the far host.
struct IcmpRefusal {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  // nullopt if the far gateway generated the error, because it did not find the host on its LAN.
  std::optional<IpAddress> sender = {};
  void image(Image& image) { image(type, code, sender); }
  friend bool operator==(const IcmpRefusal&, const IcmpRefusal&) = default;
};

// Forward error correction (docs/stp.md section 11). kAuto sends as many repairs as the path needs,
// if the peer supports repairs.
enum class FecMode : std::uint8_t { kAuto, kOff };

// TCP urgent data of the far host. `mark` is the stream offset after the last urgent byte, in
// uncompressed bytes. `after` is the previous mark; 0 if there is none. There is no other mark
// between `after` and `mark`.
struct UrgentNotice {
  std::uint64_t after = 0;
  std::uint64_t mark = 0;  // 0 if there is no mark
  void image(Image& image) { image(after, mark); }
  friend bool operator==(const UrgentNotice&, const UrgentNotice&) = default;
};

// If our host sends a keep-alive or a zero-window probe (a question), the far gateway checks
// whether the far host still answers. This is the result.
struct HostAnswer {
  // Number of the question that caused the last finished check; 0 if no check is finished.
  std::uint64_t question = 0;
  bool silent = false;  // whether the host did not answer
  void image(Image& image) { image(question, silent); }
  friend bool operator==(const HostAnswer&, const HostAnswer&) = default;
};

// The state of a stream's far host, as the far gateway reports it (docs/stp.md section 14).
struct Confirmation {
  bool answered = false;        // the host has answered the SYN, so the connection is established
  bool ended = false;           // the host has acknowledged the last byte and the FIN
  std::uint64_t delivered = 0;  // uncompressed bytes that the host has acknowledged
  std::uint64_t window = 0;     // bytes that the host's window allows beyond `delivered`
  // Number of keep-alives and zero-window probes that the host has sent. They ask whether the other
  // host is still there.
  std::uint64_t keep_alives = 0;
  UrgentNotice urgent = {};  // used only if both ends have kCapabilityUrgent
  HostAnswer word = {};      // used only if both ends have kCapabilityHostWords
  void image(Image& image) { image(answered, ended, delivered, window, keep_alives, urgent, word); }
  friend bool operator==(const Confirmation&, const Confirmation&) = default;
};

// When an end sends reports about received packets (docs/stp.md section 7).
enum class FeedbackMode : std::uint8_t {
  kAdaptive,  // as often as the budget allows, and at once after a new gap
  kHpfp,      // every 200 ms, as HpFP does
  kMNack,     // once a round trip, as TP-S does
};

// An event that the session reports to the relay.
struct Event {
  enum class Kind : std::uint8_t {
    kPeerAlive,  // the peer is established, or has answered after kPeerSuspect or doubts_peer()
    kPeerSuspect,
    kPeerRestarted,  // new boot epoch: all streams have ended, and no kReset follows
    kPeerClosed,     // the peer sent CLOSE: all streams have ended, and no kReset follows
    kOpened,         // the peer has opened a stream; metadata() returns the metadata of its OPEN
    kReadable,       // there are new in-order bytes, or the end of the stream
    kWritable,       // the writer now has the free space for which it has waited
    // The stream was reset by the peer, or after an error; it no longer exists after this event.
    kReset,
    kCapacity,   // peer_capacity() has changed
    kConfirmed,  // confirmation() has changed, or confirmed() has become true
    kDelivered,  // the peer has acknowledged all written bytes and the end of the stream
  };
  Kind kind{};
  StreamId stream{};
  std::uint32_t context = 0;  // the value set by open() or set_context(); 0 in kOpened
  ResetReason reason = ResetReason::kNone;
  IcmpRefusal icmp = {};  // only for ResetReason::kIcmp
};

// Blocks of the arena that the streams hold.
struct BlocksHeld {
  std::size_t to_peer = 0;    // for bytes written and not freed yet
  std::size_t from_peer = 0;  // for bytes received and not consumed yet
  std::size_t reserves = 0;   // number of reserves in use; a reserve is smaller than a block
};

}  // namespace satrelay::stp
