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

// State that a flow needs only while bytes come from its host. An idle flow has none of it.
struct FlowHot {
  explicit FlowHot(Instant now) : departures(now) {}

  Departures departures;  // of bytes from the LAN
  BitRate share;          // of the link, when its last block began; zero: there was no block
  // How many bytes the host may be ahead of the link, and until when that value holds.
  std::uint64_t ahead = 0;
  Instant ahead_until;
  std::uint64_t flight = 0;  // bytes of the host that the flow's share carries in a flight
  Instant last_payload;      // when the last payload came from the host
  WaitSample wait;           // how long the host's bytes wait for the link
  // Bytes of the host that the traffic class counts as waiting for the link.
  std::uint64_t waiting = 0;
  // Since when the flow has owed something to a silent peer; never: it owes nothing, or the peer is
  // not silent.
  Instant owes_since = Instant::never();

  void image(Image& image) {
    image(departures, share, ahead, ahead_until, flight, last_payload, wait, waiting, owes_since);
  }
};

// Where the host's data is urgent (urgent.h).
struct UrgentState {
  tcp::UrgentMarks marks;       // marks of bytes that are not in the stream yet
  std::uint64_t in_stream = 0;  // the last mark that the stream has told
  stp::UrgentNotice told;       // the last notice in a CONFIRM

  void image(Image& image) { image(marks, in_stream, told); }
};

// A host has reset its connection, and bytes that it sent before are still in flight
// (deferred_reset.h).
struct DeferredReset {
  enum class Stage : std::uint8_t {
    kToStream,  // our host has reset: its bytes go into the stream, then the reset block
    kInStream,  // both are in the stream: the far gateway resets it once it has read them
    kHeld,      // our host has reset: RESET waits until the peer's session has all bytes
    kToHost,    // the far host has reset: ours is reset once it has acknowledged all
  };
  Stage stage{};
  Instant began;
  Instant progressed;      // when `left` last became smaller
  std::uint64_t left = 0;  // left_before_reset() at the last look
  Instant look_at;         // when to visit the flow again

  void image(Image& image) { image(stage, began, progressed, left, look_at); }
};

// The claims on its host's address that a flow has tried, by their numbers, in ascending order. The
// flow tries each claim once. If the host is still not found, it tries them again from the first
// on, as the segment that went to a claimed MAC may have been lost.
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

// A host asks whether the far host is still there (host_questions.h).
struct HostQuestions {
  // Our host asks.
  std::uint64_t asked = 0;             // the number of its latest question
  bool owes_answer = false;            // our host waits for the answer
  Instant until = Instant::never();    // deadline of the far gateway; never: no answer is awaited
  std::uint64_t byte_repeated_at = 0;  // in-order bytes of our host when it last repeated one byte
  // The far host asks, so this gateway asks our host.
  Instant host_until = Instant::never();  // deadline of our host; never: it is not asked
  Instant heard;                          // when our host last answered a question
  stp::HostAnswer word;                   // the answer for the far gateway

  void image(Image& image) {
    image(asked, owes_answer, until, byte_repeated_at, host_until, heard, word);
  }
};

// State that few flows have.
struct FlowRare {
  // If both hosts opened the connection at once: the stream that the peer opened. It carries the
  // far host's bytes, and the other stream carries only those of our host.
  std::optional<stp::StreamId> inbound;
  // State of the hosts that the gateways tell each other (flow_modes.h).
  std::uint64_t host_acknowledged = 0;      // plain bytes that our host has acknowledged
  std::uint64_t confirmed_window = 0;       // window of our host, as last told
  std::optional<std::uint64_t> far_window;  // window of the far host, once it has answered
  std::uint64_t far_keep_alives = 0;        // Keep-alives in the far gateway's latest CONFIRM
  LanFigures lan;                           // of this LAN
  std::optional<LanFigures> far;            // of the far LAN, once its gateway has reported
  bool far_awaited = false;                 // FlowEnds expects the far gateway's report
  bool marks_told = false;                  // the far gateway has told its host's marks
  stp::UrgentNotice far_urgent;             // of the far host, as its gateway tells
  std::unique_ptr<UrgentState> urgent;      // of our host, from its first urgent segment on
  std::unique_ptr<DeferredReset>
      deferred_reset;                        // from a host's RST on, until its bytes have arrived
  std::unique_ptr<HostQuestions> questions;  // from the first question on
  // Where its host may be on the LAN (host_tracker.h).
  MacAddress known_mac;           // while LanSide::seeks_host: the MAC that last reached the host
  MacAddress other_mac;           // MAC to try next if the host does not acknowledge; zero: none
  MacAddress sender_mac;          // source of its latest frames, if another MAC reached it
  bool may_be_before = false;     // the host may be at `other_mac`, its MAC before `known_mac`
  bool may_go_home = false;       // the first answer from `known_mac` leads back there
  bool owes_repeat = false;       // data in flight to another MAC must be repeated to this one
  std::uint64_t sent_before = 0;  // bytes sent before the change to the MAC in use
  TriedClaims claims;             // of LanOwners::Other
  TriedClaims told_claims;        // of LearnedDestinations::Heard
  std::uint64_t stalled_at = 0;   // in-order bytes of the host when it last repeated data
  // When the host first repeated data at that place, or the flow last looked for it.
  Instant stalled_since;

  void image(Image& image) {
    image(inbound, host_acknowledged, confirmed_window, far_window, far_keep_alives, lan, far,
          far_awaited, marks_told, far_urgent, urgent, deferred_reset, questions, known_mac,
          other_mac, sender_mac, may_be_before, may_go_home, owes_repeat, sent_before, claims,
          told_claims, stalled_at, stalled_since);
  }
};

// When something was last done to a flow, and when something must be done again.
struct FlowTimers {
  Instant last_activity;
  Instant retry_at = Instant::never();  // memory ran out: try again then
  Instant armed = Instant::never();     // when the timer table calls: at the deadline or earlier
  void image(Image& image) { image(last_activity, retry_at, armed); }
};

// The half of a flow towards its host on the LAN, beside the endpoint.
struct LanSide {
  wire::EthernetHeader to_host{};  // L2 header of our frames (host_tracker.h)
  std::uint16_t stored = 0;        // of and for the host, in the units of FlowQuotas
  bool seeks_host = false;         // not sure which MAC reaches the host
  std::uint32_t host = kNoSlot;    // among LanHosts
  std::uint32_t flow_label = 0;    // of IPv6 packets to the host
  void image(Image& image) { image(to_host, stored, seeks_host, host, flow_label); }
};

struct FlowMarks {
  PathMarks host;  // of our host's latest data
  PathMarks told;  // our host's marks as the far gateway knows them
  PathMarks far;   // of the far host: our frames to this host have them
  void image(Image& image) { image(host, told, far); }
};

struct FlowBytes {
  std::uint64_t from_lan = 0;  // plain
  std::uint64_t encoded = 0;   // those bytes as encoded in the stream
  std::uint64_t to_lan = 0;
  std::uint64_t decoded = 0;  // bytes of the stream that became those
  void image(Image& image) { image(from_lan, encoded, to_lan, decoded); }
};

// What Splice knows of a flow between two blocks.
struct BlockState {
  // Offset in the bytes from the LAN where compression is tried again, and how many bytes it skips
  // before that.
  std::uint64_t try_compression_at = 0;
  std::uint32_t incompressible_run = 0;
  // How far the encoded block has been passed to the host.
  std::uint32_t remaining = 0;      // encoded bytes not yet consumed
  std::uint32_t plain_written = 0;  // plain bytes of a compressed block already queued
  // The kind of that block.
  compress::BlockKind kind = compress::BlockKind::kRaw;
  void image(Image& image) {
    image(try_compression_at, incompressible_run, remaining, plain_written, kind);
  }
};

// How many events of each kind have reached a flow.
struct EventsHandled {
  std::uint32_t looked_at = 0;       // events of all peers at the last look (peer_epochs.h)
  std::uint32_t epochs = 0;          // events of its peer (peer_epoch_log.h)
  std::uint16_t configurations = 0;  // reloads
  std::uint16_t stray_answers = 0;   // of our host: the peer was asked about them
  void image(Image& image) { image(looked_at, epochs, configurations, stray_answers); }
};

// How a flow began.
struct FlowBeginning {
  std::uint64_t id = 0;  // unique among all flows since the start
  Instant created;
  std::uint32_t syn_sequence = 0;  // of the host's SYN, if the SYN came from the LAN
  // Time until the server's first byte; 0: none has come.
  std::uint32_t first_byte_us = 0;
  void image(Image& image) { image(id, created, syn_sequence, first_byte_us); }
};

struct Flow {
  // An id that no stream has.
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

  // Sets `first_byte_us` if the server's first byte is here. It came at `now` or before.
  void note_first_byte(Instant now) {
    const bool has_come =
        origin == Origin::kLan ? bytes.to_lan > 0 : endpoint.received().in_order_end() > 0;
    if (!has_come) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t time = (now - beginning.created).to_microseconds();
    beginning.first_byte_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(time, 1, kMost));
  }
  // The host believes that it is connected, but the peer knows nothing of the connection yet.
  bool awaits_stream() const {
    return origin == Origin::kLan && state.awaits_peer() && !endpoint.is_closed();
  }
  std::optional<stp::StreamId> inbound() const { return rare().inbound; }
  stp::StreamId inbound_stream() const { return rare_ ? inbound().value_or(stream) : stream; }
  void forget_inbound() {
    if (rare_) rare_->inbound.reset();
  }
  // For reading, and for changes.
  const FlowRare& rare() const { return rare_ ? *rare_ : kNone; }
  FlowRare& make_rare() {
    if (!rare_) rare_ = std::make_unique<FlowRare>();
    return *rare_;
  }
  // nullptr if the flow is idle, and has taken no bytes for long.
  FlowHot* hot() const { return hot_.get(); }
  FlowHot& heat(Instant now) {
    if (!hot_) [[unlikely]]
      hot_ = std::make_unique<FlowHot>(now);
    state.note_active();
    return *hot_;
  }
  // Frees the hot part, unless bytes wait or the flow owes something to a silent peer.
  void cool() {
    if (hot_ && hot_->waiting == 0 && hot_->owes_since.is_never()) hot_.reset();
  }
  Instant owes_since() const { return hot_ ? hot_->owes_since : Instant::never(); }
  std::uint64_t waiting() const { return hot_ ? hot_->waiting : 0; }
  // As sent or received with OPEN.
  void set_metadata(const OpenMetadata& metadata) { metadata_.pack(metadata); }
  OpenMetadata metadata() const {
    return origin == Origin::kLan
               ? metadata_.unpack({key.local, key.remote, key.local_port, key.remote_port})
               : metadata_.unpack({key.remote, key.local, key.remote_port, key.local_port});
  }
  std::string_view class_name() const { return metadata_.class_name(); }
  // The gateway does not yet know how to reach the host on the LAN.
  bool is_unconfirmed() const { return lan.to_host.destination == MacAddress(); }
  // It counts against limits.half_open.
  bool is_half_open() const { return origin == Origin::kLan && !state.is_established(); }
  // The flow has ended, or only its TIME-WAIT is left.
  bool is_over() const {
    const bool closed = endpoint.is_closed() || endpoint.state() == tcp::State::kTimeWait;
    return closed && !state.has_stream();
  }

  // Without its key, its origin and its rule, with which the flow that is read is built, and
  // without its stream, which the session has (Session::image()).
  void image(Image& image);

  // --- used with each frame --------------------------------------------------------------------
  FlowKey key;
  Origin origin;
  FlowState state;
  schedule::ClassId traffic_class = 0;  // of the stream
  config::FlowModes modes;
  FlowMarks marks;
  LaneId lane;
  stp::StreamId stream = kNoStream;  // kNoStream: none since the peer's present epoch began
  FlowTimers timers;
  LanSide lan;
  EventsHandled handled;
  BlockState block;
  FlowBytes bytes;
  RulePtr rule;  // the rule that it matched here; never null
  [[no_unique_address]] tcp::Endpoint endpoint;

  // A far gateway sends no marks if they equal the marks that this gateway assumes. If the server
  // has sent something and no marks came, the assumption holds, whatever marks the server's last
  // connection had.
  void assume_usual_marks() {
    if (origin != Origin::kLan || rare().marks_told) return;
    marks.far =
        PathMarks{.traffic_class = static_cast<std::uint8_t>(metadata().traffic_class & 0xfcU)};
  }
  // The server's packets have other marks than the client's gateway assumes. That gateway waits for
  // the marks before it answers the client's SYN.
  bool owes_marks() const {
    return origin == Origin::kPeer && modes.handshake == config::HandshakeMode::kRemote &&
           state.is_established() && marks.told != marks.host;
  }

  // --- used seldom -----------------------------------------------------------------------------
  FlowJournal::Place journal_place = FlowJournal::kNowhere;  // in the padding behind the endpoint's
  FlowBeginning beginning;

 private:
  constinit inline static const FlowRare kNone{};
  PackedMetadata metadata_;
  std::unique_ptr<FlowHot> hot_;
  std::unique_ptr<FlowRare> rare_;
};

}  // namespace satrelay::gateway
