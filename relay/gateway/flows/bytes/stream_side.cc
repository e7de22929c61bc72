#include "relay/gateway/flows/bytes/stream_side.h"

#include <algorithm>
#include <array>

#include "relay/gateway/flows/deferred_reset.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/peers/stream_context.h"

namespace satrelay::gateway {
namespace {

// A block of this size fits into a stream's share of the lane, together with its header and a marks
// block (DSCP and TTL) in front of it. All of them also fit into the reserve of the store in which
// the far gateway keeps the block until it is complete (memory_plan.cc).
constexpr std::uint64_t kSmallestBlock = 480;

// A raw block may have this many bytes, however many streams there are, unless the link takes long
// to send them. So one header and one visit of the flow serve several packets.
constexpr std::size_t kRawBlock = 8 * 1024;

// A host pauses if it has sent nothing for this long, although it may send.
constexpr Duration kPause = Duration::milliseconds(20);
// A host that pauses leaves at least this much of its window unused. A host that waits for its
// window leaves less unused, since a block that is sent opens the window by only one block.
constexpr std::uint64_t kLeftOpen = 2 * compress::kMaxPlainBlock;

}  // namespace

StreamSide::StreamSide(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                       TrafficClasses& classes, const Lanes& lanes, WorkBudget& budget,
                       const Stopwatch* stopwatch)
    : lane_receive_limit_(plan.lane_receive_limit),
      flow_receive_limit_(plan.flow_receive_limit),
      fair_hosts_(config.fair_hosts),
      host_key_(secret),
      classes_(classes),
      lanes_(lanes),
      splice_(config.compress_level, dictionaries_, budget, stopwatch) {}

void StreamSide::offer_dictionaries(Instant now) {
  dictionaries_.replace(classes_);
  for (const schedule::ClassId id : classes_.order()) {
    if (const auto& levels = classes_[id].dictionary) splice_.make_room_for(*levels);
  }
  for (const auto& lane : lanes_) {
    lane->control_messages.offer(dictionaries_.offered(), now);
    lane->dictionaries.update(classes_, lane->control_messages.peer_dictionaries());
  }
}

StreamSide::Opening StreamSide::open(std::uint32_t slot, Flow& f, Instant now) {
  OpenMetadata metadata = f.metadata();
  // A peer that does not support repairs does not know the delivery mode.
  if (f.modes.delivery != config::DeliveryMode::kOrdinary && !session_of(f).agreed().repairs()) {
    metadata.modes.delivery = config::DeliveryMode::kOrdinary;
    f.set_metadata(metadata);
  }
  std::array<std::byte, kMaxOpenMetadata> octets;
  const ConstBytes written = ConstBytes(octets).first(write_open_metadata(metadata, octets));
  const auto stream =
      session_of(f).streams().open(written, StreamContext::of_flow(slot).number(), now);
  if (!stream) {
    const stp::PeerState peer = session_of(f).peer_state();
    if (peer == stp::PeerState::kConnecting) return Opening::kLater;
    return peer == stp::PeerState::kAlive ? Opening::kNoResources : Opening::kPeerGone;
  }
  f.stream = *stream;
  f.state.open_stream();
  join_class(f);
  return Opening::kOpen;
}

void StreamSide::adopt(std::uint32_t slot, Flow& f, stp::StreamId stream) {
  session_of(f).streams().set_context(stream, StreamContext::of_flow(slot).number());
  join_class(f);
}

// The far gateway also joins a class for its end of the stream. Only the name of the class crosses
// the link: each gateway has its own settings for the class.
void StreamSide::join_class(Flow& f) {
  const bool local = fair_hosts_ == config::FairHosts::kLocal;
  const std::uint64_t waiting = f.waiting();
  count_waiting(f, 0);
  f.traffic_class = classes_.of_relayed(f.class_name());
  count_waiting(f, waiting);
  const std::uint64_t host = hash_host(host_key_, local ? f.key.local : f.key.remote);
  session_of(f).streams().set_group(f.stream, f.traffic_class, host);
  session_of(f).streams().set_prompt(f.stream, f.modes.delivery == config::DeliveryMode::kPrompt);
  if (f.inbound()) session_of(f).streams().set_group(*f.inbound(), f.traffic_class, host);
}

void StreamSide::reset(Flow& f, stp::ResetReason reason, Instant now) {
  if (f.state.has_stream()) {
    session_of(f).streams().reset(f.stream, reason, now);
    if (f.inbound()) session_of(f).streams().reset(*f.inbound(), reason, now);
  }
  f.state.end_stream();
  f.forget_inbound();
  count_waiting(f, 0);
}

void StreamSide::reset(Flow& f, const stp::IcmpRefusal& refusal, Instant now) {
  if (f.state.has_stream()) session_of(f).streams().reset(f.stream, refusal, now);
  reset(f, stp::ResetReason::kNone, now);  // also resets the inbound stream of a simultaneous open
}

void StreamSide::release_if_done(Flow& f, Instant now) {
  stp::Session& session = session_of(f);
  const stp::StreamId inbound = f.inbound_stream();
  if (f.state.host_end() != FlowState::HostEnd::kDelivered ||
      !session.streams().received_end(inbound) || !all_confirmed(f, session))
    return;
  if (f.rare().deferred_reset) return;  // a RESET of either gateway ends the stream
  if (session.streams().received(inbound)->readable() > 0) return;
  session.streams().release(f.stream, now);
  if (f.inbound()) {
    // The stream must not end earlier, as its end might overtake the OPEN of the other stream.
    session.streams().finish(inbound);
    session.streams().release(inbound, now);
    f.forget_inbound();
  }
  f.state.end_stream();
}

void StreamSide::feed(Flow& f, Instant now) {
  const std::uint64_t readable = f.endpoint.received().readable();
  if (readable > 0 && f.hot() == nullptr) f.heat(now);
  count_waiting(f, readable);
  if (f.state.host_end() != FlowState::HostEnd::kOpen) return;
  stp::Session& session = session_of(f);
  if (f.endpoint.received().readable() > 0) {
    // If there is too little room for a block, the session waits for room, and asks again.
    session.streams().set_ready(f.stream, true);
    if (f.endpoint.receiving().has_finished()) tell_rest(f, now);
  } else if (f.owes_marks() || owes_reset_block(f)) {
    session.streams().set_ready(f.stream, true);
  } else if (f.endpoint.receiving().has_finished() || has_told_reset(f)) {
    session.streams().finish(f.stream);
    f.state.set_host_end(FlowState::HostEnd::kInStream);
  }
}

void StreamSide::produce(Flow& f, HostWindows& windows, Instant now) {
  stp::Session& session = session_of(f);
  const std::uint64_t before = f.bytes.from_lan;
  const std::uint64_t encoded_before = f.bytes.encoded;
  const Outlook outlook{session.path().smoothed_rtt(), session.streams().share(f.stream)};
  end_block(f, outlook, now);
  const SpliceResult result =
      splice_.to_stream(f, session, largest_blocks(f, outlook, now),
                        lanes_[f.lane]->dictionaries.of(f.traffic_class), now);
  if (f.bytes.from_lan > before) {
    begin_block(f, f.bytes.from_lan - before, f.bytes.encoded - encoded_before);
    windows.adjust(f, most_ahead(f, outlook, now), now);
  }
  ClassUse& use = classes_[f.traffic_class].use;
  use.plain_bytes += f.bytes.from_lan - before;
  use.encoded_bytes += f.bytes.encoded - encoded_before;
  note_wait(f, now);
  if (result == SpliceResult::kNoMemory) {
    session.streams().set_ready(f.stream, false);
    windows.retry_later(f, now);
    return;
  }
  if (f.endpoint.received().readable() == 0) session.streams().set_ready(f.stream, false);
  tell_rest(f, now);
  feed(f, now);
}

void StreamSide::note_wait(Flow& f, Instant now) {
  if (f.hot() == nullptr) return;
  const auto waited = f.hot()->wait.end(f.bytes.from_lan, now);
  if (!waited) return;
  classes_[f.traffic_class].relayed_waits.add(
      static_cast<std::uint64_t>(waited->to_microseconds()));
}

void StreamSide::count_waiting(Flow& f, std::uint64_t bytes) {
  FlowHot* const hot = f.hot();
  if (hot == nullptr) return;
  waiting_[f.traffic_class] += bytes - hot->waiting;
  hot->waiting = bytes;
}

// Tells the session whether more bytes of the host follow the bytes that have arrived. No bytes
// follow for now if the host has ended, or if it pauses although it may send. More bytes follow if
// only the window keeps the host from sending.
void StreamSide::tell_rest(Flow& f, Instant now) {
  const Instant last_payload = f.hot() == nullptr ? Instant() : f.hot()->last_payload;
  const std::uint64_t left_open = std::min(kLeftOpen, f.endpoint.receiving().limit() / 2);
  const bool pauses = now >= last_payload + kPause && f.endpoint.receiving().window() >= left_open;
  const std::uint64_t readable = f.endpoint.received().readable();
  auto behind = stp::Behind::kUnknown;
  if (pauses || f.endpoint.receiving().has_finished() || f.rare().deferred_reset) {
    behind = stp::Behind::kNothing;
  } else if (fills_a_flight(f, readable)) {
    behind = stp::Behind::kMore;
  }
  session_of(f).streams().set_rest(f.stream, readable, behind);
}

// A compressed block is delivered as a whole, and uses credit until it is complete. The unfinished
// blocks of all streams must fit into the credit that the far gateway grants, and its memory may be
// much smaller than ours. So a block is limited by the credit in the far gateway's HELLO, and by
// the credit that this gateway grants.
Splice::Largest StreamSide::largest_blocks(const Flow& f, const Outlook& outlook,
                                           Instant now) const {
  const stp::Session& session = session_of(f);
  const std::uint64_t streams = std::max<std::uint64_t>(session.streams().count(), 1);
  const stp::Session::FirstCredit theirs = session.first_credit();
  const std::uint64_t share =
      std::min(std::min(lane_receive_limit_[f.lane], theirs.lane) / (4 * streams),
               std::min(flow_receive_limit_[f.lane], theirs.stream) / 4);
  // The block is also limited by the time that the link takes to send it.
  const LargestBlock largest = largest_block(f, outlook, now);
  const std::uint64_t leaves = std::max(largest.raw, kSmallestBlock);
  const auto plain_of = [&](std::uint64_t encoded) {
    const FlowHot* const hot = f.hot();
    const std::uint64_t plain = hot == nullptr ? encoded : hot->departures.plain_of(encoded);
    return std::clamp<std::uint64_t>(std::min(share, plain), kSmallestBlock,
                                     compress::kMaxPlainBlock);
  };
  const std::uint64_t compressed = plain_of(largest.compressed);
  // Bytes that are written into the stream long before they are sent would no longer be in the
  // processor's cache when they are sent.
  const std::uint64_t turn = std::max<std::uint64_t>(
      std::min(plain_of(leaves), session.streams().turn_left(f.stream)), kRawBlock);
  // The far gateway passes on the bytes of a raw block as they arrive, so a block that fills a
  // packet delays nothing.
  const std::uint64_t raw =
      std::min(turn, std::max<std::uint64_t>(leaves, session.path().datagram_limit()));
  return {.compressed = static_cast<std::size_t>(compressed), .raw = static_cast<std::size_t>(raw)};
}

StreamSide::Delivery StreamSide::deliver(Flow& f, HostWindows& windows, Instant now) {
  stp::Session& session = session_of(f);
  // A stream that is being reset has nothing to read, and its reset event follows later.
  const Reassembler* const stored = session.streams().received(f.inbound_stream());
  if (f.endpoint.is_closed() || stored == nullptr) return Delivery::kDone;
  const bool has_end =
      !f.state.has_passed_far_end() && session.streams().received_end(f.inbound_stream());
  // At its end the stream may turn out to be cut short, so to_host() must check it even if no byte
  // is readable.
  if (stored->readable() > 0 || has_end) {
    std::uint64_t memory = windows.memory_for_host(f);
    const SpliceResult result = splice_.to_host(f, session, HostWindows::allowance(f), memory, now);
    if (result == SpliceResult::kMalformed) return Delivery::kMalformed;
    if (result == SpliceResult::kReset) return Delivery::kReset;
    if (stored->readable() > 0) {
      if (result == SpliceResult::kNoMemory || memory == 0) windows.retry_later(f, now);
      return result == SpliceResult::kSpent ? Delivery::kSpent : Delivery::kDone;
    }
  }
  if (!has_end) return Delivery::kDone;
  f.state.set_far_end(FlowState::FarEnd::kPassed);
  f.endpoint.close();
  return Delivery::kDone;
}

StreamSide::Delivery StreamSide::drop(Flow& f, Instant now) {
  stp::Session& session = session_of(f);
  if (session.streams().received(f.inbound_stream()) == nullptr) return Delivery::kDone;
  switch (splice_.drop(f, session, now)) {
    case SpliceResult::kSpent:
      return Delivery::kSpent;
    case SpliceResult::kMalformed:
      return Delivery::kMalformed;
    case SpliceResult::kReset:
      return Delivery::kReset;
    default:
      return Delivery::kDone;
  }
}

}  // namespace satrelay::gateway
