// One relayed flow at one gateway: a TCP endpoint that stands in for the far host, and the STP
// stream that carries the bytes to and from the far gateway.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "config/model/schema.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/compress/block_codec.h"
#include "pep/schedule/class_set.h"
#include "pep/stp/session.h"
#include "pep/tcp/endpoint.h"
#include "pep/tcp/urgent_marks.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/bytes/departures.h"
#include "relay/gateway/flows/flow_state.h"
#include "relay/gateway/flows/origin.h"
#include "relay/gateway/flows/table/flow_table.h"
#include "relay/gateway/flows/wait_sample.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/packed_metadata.h"
#include "relay/gateway/frames/path_marks.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/rules/rule_use.h"

namespace satrelay::gateway {

// State that a flow needs only while its host sends bytes. An idle flow has none of it.
struct FlowHot {
  explicit FlowHot(Instant now) : departures(now) {}

  Departures departures;  // when the bytes from the LAN are sent
  // The flow's share of the link's rate when its last block began; zero before the first block.
  BitRate share;
  // The last result of most_ahead() (ahead.h) in bytes, and the time until which it may be used.
  std::uint64_t ahead = 0;
  Instant ahead_until;
  std::uint64_t flight = 0;  // bytes of the host that the link carries in a flight (ahead.h)
  Instant last_payload;      // when the host's last payload arrived
  WaitSample wait;           // how long the host's bytes wait for the link
  // Bytes of the host that the traffic class counts as waiting for the link.
  std::uint64_t waiting = 0;
  // When the flow began to wait for a silent peer; never if the flow does not wait, or the peer is
  // not silent.
  Instant owes_since = Instant::never();

  void image(Image& image) {
    image(departures, share, ahead, ahead_until, flight, last_payload, wait, waiting, owes_since);
  }
};

// The urgent pointers of our host's segments, as positions in its byte stream (urgent.h).
struct UrgentState {
  tcp::UrgentMarks marks;       // urgent marks in bytes that were not written into the stream yet
  std::uint64_t in_stream = 0;  // the last urgent mark that was written into the stream
  stp::UrgentNotice told;       // the last notice that was sent in a CONFIRM

  void image(Image& image) { image(marks, in_stream, told); }
};

// A host has reset its connection, and bytes that the host sent before are still in flight
// (deferred_reset.h).
struct DeferredReset {
  enum class Stage : std::uint8_t {
    kToStream,  // our host has reset: the bytes or the reset block are not all in the stream yet
    kInStream,  // all are in the stream: the far gateway resets the stream when it has read them
    kHeld,      // our host has reset: RESET waits until the peer's session has all bytes
    kToHost,    // the far host has reset: our host is reset once it has acknowledged all bytes
  };
  Stage stage{};
  Instant began;
  Instant progressed;      // when `left` last decreased
  std::uint64_t left = 0;  // left_before_reset() at the last visit
  Instant look_at;         // when to visit the flow again

  void image(Image& image) { image(stage, began, progressed, left, look_at); }
};

// The claims on the host's address that the flow has tried. Claims are numbered, and the flow tries
// each claim once, in ascending order. If the host still does not answer, the flow tries all claims
// again, since a segment to a claimed MAC may have been lost.
struct TriedClaims {
  void note(std::uint64_t claim) {
    last = claim;
    highest = std::max(highest, claim);
  }
  void begin_again() { last = 0; }
  void end() { last = highest; }
  void image(Image& image) { image(last, highest); }

  std::uint64_t last = 0;
  std::uint64_t highest = 0;
};

// State of the keep-alive checks of both hosts (host_questions.h). A question is a keep-alive or a
// probe of a closed window.
struct HostQuestions {
  // Keep-alives and window probes that our host has sent to the far host.
  std::uint64_t asked = 0;   // number of our host's latest question
  bool owes_answer = false;  // our host still waits for the answer to its latest question
  // Deadline for the far gateway's answer; never if no question is open, or if this gateway
  // withholds the answer for now. A later answer is still passed on while `owes_answer` is set.
  Instant until = Instant::never();
  // Number of in-order bytes of our host when the host last repeated a single byte.
  std::uint64_t byte_repeated_at = 0;
  // If the far host sends a keep-alive or a window probe, this gateway probes our host. This is the
  // deadline for our host's answer; never if no answer is awaited.
  Instant host_until = Instant::never();
  Instant heard;         // when our host last answered a probe
  stp::HostAnswer word;  // the answer for the far gateway

  void image(Image& image) {
    image(asked, owes_answer, until, byte_repeated_at, host_until, heard, word);
  }
};

// State that few flows have.
struct FlowRare {
  // The stream that the peer opened, if both hosts opened the connection at once. It carries the
  // far host's bytes, and `stream` carries only the bytes of our host.
  std::optional<stp::StreamId> inbound;
  // State of the two hosts that the gateways report to each other (flow_modes.h).
  std::uint64_t host_acknowledged = 0;      // plain bytes that our host has acknowledged
  std::uint64_t confirmed_window = 0;       // window of our host, as last reported
  std::optional<std::uint64_t> far_window;  // window of the far host, once it has answered
  std::uint64_t far_keep_alives = 0;        // keep-alives in the far gateway's latest CONFIRM
  LanFigures lan;                           // retransmissions on this LAN
  std::optional<LanFigures> far;            // the same on the far LAN, once reported
  bool far_awaited = false;                 // FlowEnds waits for the far gateway's report
  bool marks_told = false;                  // the far gateway has reported its host's DSCP and TTL
  stp::UrgentNotice far_urgent;             // the far host's urgent mark, from its last CONFIRM
  std::unique_ptr<UrgentState> urgent;  // our host's urgent marks, from its first urgent segment on
  std::unique_ptr<DeferredReset> deferred_reset;  // exists while the RST of a host waits for bytes
  std::unique_ptr<HostQuestions> questions;       // exist from the first keep-alive on
  // Where our host may be on the LAN (host_tracker.h).
  // The MAC that last reached the host; valid while LanSide::seeks_host is set.
  MacAddress known_mac;
  // The MAC to try next if our host does not acknowledge; zero if there is none.
  MacAddress other_mac;
  // The host's last source MAC that was not the MAC in use; zero if there is none.
  MacAddress sender_mac;
  // The host may be at `other_mac`, the MAC that was in use before `known_mac`.
  bool may_be_before = false;
  bool may_go_home = false;  // the flow returns to `known_mac` at the first answer from that MAC
  bool owes_repeat = false;  // data in flight to another MAC must be repeated to the MAC in use
  std::uint64_t sent_before = 0;  // bytes that were sent before the flow changed to the MAC in use
  TriedClaims claims;             // claims that LanOwners has noted
  TriedClaims told_claims;        // claims that the far gateway has reported (LearnedDestinations)
  std::uint64_t stalled_at = 0;   // in-order bytes of our host when the host last repeated data
  // When our host first repeated data at `stalled_at`. If the flow has searched for our host since
  // then, the time of its last search.
  Instant stalled_since;

  void image(Image& image) {
    image(inbound, host_acknowledged, confirmed_window, far_window, far_keep_alives, lan, far,
          far_awaited, marks_told, far_urgent, urgent, deferred_reset, questions, known_mac,
          other_mac, sender_mac, may_be_before, may_go_home, owes_repeat, sent_before, claims,
          told_claims, stalled_at, stalled_since);
  }
};

// When a flow was last active, and when it must be visited again.
struct FlowTimers {
  Instant last_activity;
  // When the flow tries again to get memory that was not available; never if it has what it needs.
  Instant retry_at = Instant::never();
  // When the timer table next visits the flow: at the deadline or earlier.
  Instant armed = Instant::never();
  void image(Image& image) { image(last_activity, retry_at, armed); }
};

// The half of a flow towards its host on the LAN, except the endpoint.
struct LanSide {
  wire::EthernetHeader to_host{};  // Ethernet header of our frames to the host (host_tracker.h)
  std::uint16_t stored = 0;        // stored bytes from and for the host, in the units of FlowQuotas
  bool seeks_host = false;         // the flow does not know which MAC reaches the host
  std::uint32_t host = kNoSlot;    // index of the host in LanHosts
  std::uint32_t flow_label = 0;    // flow label of IPv6 packets to the host
  void image(Image& image) { image(to_host, stored, seeks_host, flow_label); }
};

struct FlowMarks {
  PathMarks host;  // DSCP and TTL of our host's latest data
  PathMarks told;  // the values of our host that the far gateway last got
  PathMarks far;   // DSCP and TTL of the far host's data, copied to frames for our host
  void image(Image& image) { image(host, told, far); }
};

struct FlowBytes {
  std::uint64_t from_lan = 0;  // plain bytes from our host
  std::uint64_t encoded = 0;   // size of these bytes as encoded in the stream to the peer
  std::uint64_t to_lan = 0;
  // Encoded bytes of the peer's stream that became the bytes in `to_lan`.
  std::uint64_t decoded = 0;
  void image(Image& image) { image(from_lan, encoded, to_lan, decoded); }
};

// State that Splice keeps for a flow from one block to the next.
struct BlockState {
  // Compression is tried again at this offset in the bytes from the LAN. `incompressible_run` is
  // the number of bytes that are sent raw up to this offset.
  std::uint64_t try_compression_at = 0;
  std::uint32_t incompressible_run = 0;
  // How much of the current inbound block was passed to the host.
  std::uint32_t remaining = 0;      // encoded bytes that were not consumed yet
  std::uint32_t plain_written = 0;  // plain bytes of the compressed block that were already queued
  // The kind of the current inbound block.
  compress::BlockKind kind = compress::BlockKind::kRaw;
  void image(Image& image) {
    image(try_compression_at, incompressible_run, remaining, plain_written, kind);
  }
};

// How many events of each kind the flow has handled.
struct EventsHandled {
  std::uint32_t looked_at = 0;       // value of PeerEpochs::events_ when the flow was last checked
  std::uint32_t epochs = 0;          // events of the flow's own peer (peer_epoch_log.h)
  std::uint16_t configurations = 0;  // number of reloads
  // Number of stray answers of our host that were handled. A stray answer is a segment that none of
  // our segments can have caused (tcp::Questions).
  std::uint16_t stray_answers = 0;
  void image(Image& image) { image(looked_at, epochs, configurations, stray_answers); }
};

// How a flow began.
struct FlowBeginning {
  std::uint64_t id = 0;  // unique among all flows since the start
  Instant created;
  std::uint32_t syn_sequence = 0;  // sequence number of the host's SYN, if a SYN began the flow
  // Time until the server's first byte arrived; 0 if no byte has arrived.
  std::uint32_t first_byte_us = 0;
  void image(Image& image) { image(id, created, syn_sequence, first_byte_us); }
};

struct Flow {
  // An id that belongs to no stream.
  static constexpr stp::StreamId kNoStream{~std::uint64_t{0}};

  Flow(const FlowKey& flow_key, RulePtr flow_rule, Origin flow_origin, const tcp::Config& config,
       Arena& arena, tcp::Endpoint::Shared shared, Instant now)
      : key(flow_key),
        origin(flow_origin),
        timers{.last_activity = now},
        lan{.flow_label = gateway::flow_label(flow_key)},
        rule(std::move(flow_rule)),
        endpoint(config, arena, std::move(shared)),
        beginning{.created = now} {}

  // Sets `first_byte_us` if the server's first byte has arrived, at `now` or before.
  void note_first_byte(Instant now) {
    const bool has_come =
        origin == Origin::kLan ? bytes.to_lan > 0 : endpoint.received().in_order_end() > 0;
    if (!has_come) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t time = (now - beginning.created).to_microseconds();
    beginning.first_byte_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(time, 1, kMost));
  }
  // The host has a complete handshake, but the peer does not know the connection yet.
  bool awaits_stream() const {
    return origin == Origin::kLan && state.awaits_peer() && !endpoint.is_closed();
  }
  std::optional<stp::StreamId> inbound() const { return rare().inbound; }
  stp::StreamId inbound_stream() const { return rare_ ? inbound().value_or(stream) : stream; }
  void forget_inbound() {
    if (rare_) rare_->inbound.reset();
  }
  // rare() is for reading, make_rare() for changes.
  const FlowRare& rare() const { return rare_ ? *rare_ : kNone; }
  FlowRare& make_rare() {
    if (!rare_) rare_ = std::make_unique<FlowRare>();
    return *rare_;
  }
  // nullptr if the flow is idle, and no byte of its host has arrived for long.
  FlowHot* hot() const { return hot_.get(); }
  FlowHot& heat(Instant now) {
    if (!hot_) [[unlikely]]
      hot_ = std::make_unique<FlowHot>(now);
    state.note_active();
    return *hot_;
  }
  // Frees the hot part, unless bytes wait for the link, or a silent peer must still acknowledge
  // something.
  void cool() {
    if (hot_ && hot_->waiting == 0 && hot_->owes_since.is_never()) hot_.reset();
  }
  Instant owes_since() const { return hot_ ? hot_->owes_since : Instant::never(); }
  std::uint64_t waiting() const { return hot_ ? hot_->waiting : 0; }
  // The metadata of OPEN, as they were sent or received.
  void set_metadata(const OpenMetadata& metadata) { metadata_.pack(metadata); }
  OpenMetadata metadata() const {
    return origin == Origin::kLan
               ? metadata_.unpack({key.local, key.remote, key.local_port, key.remote_port})
               : metadata_.unpack({key.remote, key.local, key.remote_port, key.local_port});
  }
  std::string_view class_name() const { return metadata_.class_name(); }
  // The gateway does not yet know how to reach the host on the LAN.
  bool is_unconfirmed() const { return lan.to_host.destination == MacAddress(); }
  // The flow counts against limits.half_open.
  bool is_half_open() const { return origin == Origin::kLan && !state.is_established(); }
  // The flow has ended, or is in TIME-WAIT and has nothing else left to do.
  bool is_over() const {
    const bool closed = endpoint.is_closed() || endpoint.state() == tcp::State::kTimeWait;
    return closed && !state.has_stream();
  }

  // The image omits the key, the origin and the rule, which the constructor needs before it can
  // read an image. It also omits positions in tables of the gateway (FlowGround), and the stream,
  // which belongs to the session (stp::StreamImage).
  void image(Image& image);

  // --- used with each frame --------------------------------------------------------------------
  FlowKey key;
  Origin origin;
  FlowState state;
  schedule::ClassId traffic_class = 0;  // traffic class of the flow's stream
  config::FlowModes modes;
  FlowMarks marks;
  LaneId lane;
  // kNoStream if the flow has opened no stream since the peer's current epoch began.
  stp::StreamId stream = kNoStream;
  FlowTimers timers;
  LanSide lan;
  EventsHandled handled;
  BlockState block;
  FlowBytes bytes;
  RulePtr rule;  // the rule that the connection matched here; never null
  [[no_unique_address]] tcp::Endpoint endpoint;

  // Sets the server's DSCP and TTL to the values that this gateway assumes. Call this when data of
  // the server has arrived without a report of its values: the far gateway omits the report if the
  // server has the assumed values.
  void assume_usual_marks() {
    if (origin != Origin::kLan || rare().marks_told) return;
    marks.far =
        PathMarks{.traffic_class = static_cast<std::uint8_t>(metadata().traffic_class & 0xfcU)};
  }
  // Whether the far gateway must still get our server's DSCP and TTL, since they differ from the
  // values that it last got or that it assumes. With a remote handshake the far gateway needs them
  // before it answers the client's SYN.
  bool owes_marks() const {
    return origin == Origin::kPeer && modes.handshake == config::HandshakeMode::kRemote &&
           state.is_established() && marks.told != marks.host;
  }

  // --- used rarely -----------------------------------------------------------------------------
  // This member fits into the padding behind the endpoint.
  FlowJournal::Place journal_place = FlowJournal::kNowhere;
  FlowBeginning beginning;

 private:
  constinit inline static const FlowRare kNone{};
  PackedMetadata metadata_;
  std::unique_ptr<FlowHot> hot_;
  std::unique_ptr<FlowRare> rare_;
};

}  // namespace satrelay::gateway
