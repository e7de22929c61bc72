// One relayed flow at one gateway: a TCP endpoint that stands in for the far host, and the STP
// stream to the gateway in front of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "config/model/schema.h"
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
#include "relay/gateway/flows/origin.h"
#include "relay/gateway/flows/table/flow_table.h"
#include "relay/gateway/flows/wait_sample.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/packed_metadata.h"
#include "relay/gateway/frames/path_marks.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/rules/rule_use.h"

namespace satrelay::gateway {

// The STP half of a flow.
enum class StreamState : std::uint8_t {
  kNone,  // not opened: the local handshake is not complete, or the peer is being greeted anew
  kOpen,
  kOver,  // released or reset; the session knows it no more
};

// What a flow needs only while bytes come from its host: an idle one has none of it.
struct FlowHot {
  explicit FlowHot(Instant now) : departures(now) {}

  Departures departures;  // of bytes from the LAN
  BitRate share;          // of the link, when its last block began; zero: it had none
  // How far its host may be ahead of the link, and until when that need not be asked anew.
  std::uint64_t ahead = 0;
  Instant ahead_until;
  std::uint64_t flight = 0;  // bytes of its host that its share carries in a flight
  Instant last_payload;      // from its host
  WaitSample wait;           // of its bytes for the link
  // Those of its bytes that its class counts as waiting for the link.
  std::uint64_t waiting = 0;
  Instant owes_since = Instant::never();  // something to its peer, which is silent
};

// Where its host's data is urgent (urgent.h).
struct UrgentState {
  tcp::UrgentMarks marks;       // of bytes that the stream does not have yet
  std::uint64_t in_stream = 0;  // the last that the stream has told
  stp::UrgentNotice told;       // with CONFIRM
};

// A host has reset its connection, and what it had sent before is still on its way
// (deferred_reset.h).
struct DeferredReset {
  enum class Stage : std::uint8_t {
    kToStream,  // our host has: its bytes go into the stream, and then the block that says so
    kInStream,  // so they have: the far gateway resets the stream once it has read them
    kHeld,      // our host has, and RESET waits until the peer's session has all of its bytes
    kToHost,    // the far host has: ours is reset once it has acknowledged all that is queued
  };
  Stage stage{};
  Instant began;
  Instant progressed;      // when less was left than before
  std::uint64_t left = 0;  // bytes to be acknowledged, then
  Instant look_at;         // the flow is to be visited again
};

// Which claims on a host's address a flow has tried, by their numbers, in ascending order. Each is
// tried once, but while the host is not found: then they are tried again from the first on, as the
// repeat that went there may have been lost.
struct TriedClaims {
  void note(std::uint64_t claim) {
    last = claim;
    highest = std::max(highest, claim);
  }
  void begin_again() { last = 0; }
  void end() { last = highest; }

  std::uint64_t last = 0;
  std::uint64_t highest = 0;
};

// A host asks whether the far one is still there (host_questions.h).
struct HostQuestions {
  // Ours asks.
  std::uint64_t asked = 0;             // the number of its latest question
  bool owes_answer = false;            // to our host
  Instant until = Instant::never();    // the far gateway may take; never: that is over
  std::uint64_t byte_repeated_at = 0;  // plain bytes of our host, when it sent one byte before it
  // The far host asks, and ours is asked.
  Instant host_until = Instant::never();  // ours may take
  Instant heard;                          // ours, after a question
  stp::HostAnswer word;                   // to the far gateway
};

// What few flows have.
struct FlowRare {
  // Where both hosts have opened the connection at once, the stream that the peer has opened: by it
  // the far host's bytes come, and by the other only ours go.
  std::optional<stp::StreamId> inbound;
  // What the gateways tell each other of their hosts (flow_modes.h).
  std::uint64_t host_acknowledged = 0;      // plain bytes
  std::uint64_t confirmed_window = 0;       // of our host, as told
  std::optional<std::uint64_t> far_window;  // of the far host, once it has answered
  std::uint64_t far_keep_alives = 0;        // of the far host that ours has been asked for
  LanFigures lan;                           // of this LAN
  std::optional<LanFigures> far;            // of the far one, once its gateway has told
  bool far_awaited = false;                 // it is said to be about to
  bool marks_told = false;                  // the far host's, by its gateway
  stp::UrgentNotice far_urgent;             // of the far host, as its gateway tells
  std::unique_ptr<UrgentState> urgent;      // of ours, from its first urgent segment on
  std::unique_ptr<DeferredReset>
      deferred_reset;                        // from a host's RST on, while bytes before it are left
  std::unique_ptr<HostQuestions> questions;  // from the first on
  // Where its host may be on the LAN (flow_relay_moving.cc).
  MacAddress known_mac;           // while Flow::seeks_host: by which it was reached last
  MacAddress other_mac;           // to be tried if it is not reached; zero: none
  MacAddress sender_mac;          // that its frames had last, if it was reached by another
  bool may_be_before = false;     // at `other_mac`: it was reached there before `known_mac`
  bool may_go_home = false;       // to `known_mac`, with the first answer from there
  bool owes_repeat = false;       // to the MAC in use, of what was under way to another
  std::uint64_t sent_before = 0;  // bytes, before the MAC in use: what it got first comes after
  TriedClaims claims;             // LanOwners::Other
  TriedClaims told_claims;        // LearnedDestinations::Heard
  std::uint64_t stalled_at = 0;   // what the host had sent in order when it last sent again
  Instant stalled_since;          // when it first did at that place, or was last looked for
};

struct Flow {
  // An id that no stream has.
  static constexpr stp::StreamId kNoStream{~std::uint64_t{0}};

  Flow(const FlowKey& flow_key, RulePtr flow_rule, Origin flow_origin, const tcp::Config& config,
       Arena& arena, tcp::Endpoint::Shared shared, Instant now)
      : key(flow_key),
        origin(flow_origin),
        flow_label(gateway::flow_label(flow_key)),
        last_activity(now),
        rule(std::move(flow_rule)),
        endpoint(config, arena, std::move(shared)),
        created(now) {}

  // The server's first byte has come here, at the latest now.
  void note_first_byte(Instant now) {
    const bool has_come =
        origin == Origin::kLan ? bytes_to_lan > 0 : endpoint.received().in_order_end() > 0;
    if (!has_come) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t time = (now - created).to_microseconds();
    first_byte_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(time, 1, kMost));
  }
  // The host believes in a connection of which the peer knows nothing yet.
  bool awaits_stream() const {
    return origin == Origin::kLan && established && stream_state == StreamState::kNone &&
           !endpoint.is_closed();
  }
  std::optional<stp::StreamId> inbound() const { return rare().inbound; }
  stp::StreamId inbound_stream() const { return rare_ ? inbound().value_or(stream) : stream; }
  void forget_inbound() {
    if (rare_) rare_->inbound.reset();
  }
  // To look at, and to change.
  const FlowRare& rare() const { return rare_ ? *rare_ : kNone; }
  FlowRare& make_rare() {
    if (!rare_) rare_ = std::make_unique<FlowRare>();
    return *rare_;
  }
  // nullptr of one that is idle, and has taken nothing for long.
  FlowHot* hot() const { return hot_.get(); }
  FlowHot& heat(Instant now) {
    if (!hot_) [[unlikely]]
      hot_ = std::make_unique<FlowHot>(now);
    trimmed = false;
    return *hot_;
  }
  // But not one of which bytes wait, or something else for a silent peer.
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
  // How its host is reached on the LAN is not known yet.
  bool is_unconfirmed() const { return to_host.destination == MacAddress(); }
  // But for its TIME-WAIT.
  bool is_over() const {
    const bool closed = endpoint.is_closed() || endpoint.state() == tcp::State::kTimeWait;
    return closed && stream_state != StreamState::kOpen;
  }

  // --- with each of its frames -----------------------------------------------------------------
  FlowKey key;
  Origin origin;
  StreamState stream_state = StreamState::kNone;
  schedule::ClassId traffic_class = 0;  // of the stream
  bool established = false;             // the handshake with the host was complete once
  bool finish_sent = false;             // session.finish() called
  bool delivered = false;               // the peer's session has everything
  bool close_handled = false;           // the endpoint's end was passed on
  bool closed_to_host = false;          // endpoint.close() called
  Counter end = Counter::kCount;        // names how this flow ended; kCount: nothing yet
  bool counted_over : 1 = false;        // among those that are over
  bool half_open : 1 = false;           // counted against limits.half_open
  bool seeks_host : 1 = false;          // not sure by which MAC its host is reached
  bool trimmed = true;                  // it has no memory that a quiet flow can do without
  config::FlowModes modes;
  // Of the encoded block under way towards the host.
  compress::BlockKind block_kind = compress::BlockKind::kRaw;
  std::uint32_t flow_label;  // of IPv6 packets to the host
  std::uint32_t peer = 0;
  std::uint32_t epochs_looked_at = 0;  // of all peers
  stp::StreamId stream = kNoStream;    // unless it had one, of the peer as it is now
  Instant last_activity;
  Instant retry_at = Instant::never();  // memory ran out: try again then
  Instant armed = Instant::never();     // when the timer table calls; never after the deadline
  wire::EthernetHeader to_host;         // L2 header of our frames (flow_relay_moving.cc)
  PathMarks host_marks;                 // of our host's latest data
  PathMarks told_marks;                 // as the far gateway takes them to be
  PathMarks far_marks;                  // of the far host: those of our frames to this one
  std::uint16_t stored = 0;             // of and for its host, as FlowQuotas counts it
  // Of the encoded block under way towards the host.
  std::uint32_t block_remaining = 0;  // encoded bytes not yet consumed
  std::uint32_t plain_written =
      0;         // of a compressed block, when the host's side filled up in mid-block
  RulePtr rule;  // that it fell under here; never null
  std::uint64_t bytes_from_lan = 0;  // plain
  std::uint64_t bytes_encoded = 0;   // what became of them in the stream
  std::uint64_t bytes_to_lan = 0;
  std::uint64_t bytes_decoded = 0;  // of the stream, that became those
  // Where in the bytes from the LAN compression is tried again, and after how many it was given up.
  std::uint64_t try_compression_at = 0;
  std::uint32_t incompressible_run = 0;
  std::uint32_t host = kNoSlot;  // among LanHosts
  [[no_unique_address]] tcp::Endpoint endpoint;

  // A far gateway tells no marks that are what it takes this one to assume. Where the server has
  // spoken and none were told, the assumption holds, whatever the server's last connection had.
  void assume_usual_marks() {
    if (origin != Origin::kLan || rare().marks_told) return;
    far_marks =
        PathMarks{.traffic_class = static_cast<std::uint8_t>(metadata().traffic_class & 0xfcU)};
  }
  // Its server's packets have other marks than the client's gateway takes them to have, and that
  // waits for them to answer the client's SYN.
  bool owes_marks() const {
    return origin == Origin::kPeer && modes.handshake == config::HandshakeMode::kRemote &&
           established && told_marks != host_marks;
  }

  // --- seldom ----------------------------------------------------------------------------------
  // Of the server, since the flow began; 0: has not come. Stands where the endpoint's members end.
  std::uint32_t first_byte_us = 0;
  std::uint32_t epoch_log = 0;       // of its peer that have reached it (peer_epoch_log.h)
  std::uint16_t configurations = 0;  // that have reached it
  std::uint16_t stray_answers = 0;   // of our host that the peer was asked about
  std::uint64_t id = 0;              // a number of its own among all flows since the start
  std::uint32_t syn_sequence = 0;    // of the host's SYN, if that came from the LAN
  FlowJournal::Place journal_place = FlowJournal::kNowhere;
  Instant created;

 private:
  constinit inline static const FlowRare kNone{};
  PackedMetadata metadata_;
  std::unique_ptr<FlowHot> hot_;
  std::unique_ptr<FlowRare> rare_;
};

}  // namespace satrelay::gateway
