#include "pep/stp/packet_receiver.h"

#include <algorithm>

#include "pep/base/sequence.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

// The previous key is kept for one RTT plus this time, for packets that were delayed on the path
// when the key changed.
constexpr Duration kOldKeyKept = Duration::seconds(1);

// Counts each frame as work, and passes it to another handler.
template <typename Handler>
struct CountedFrames {
  Handler& handler;
  WorkCount& work;
  template <typename Frame>
  void operator()(const Frame& frame) {
    work.add();
    handler(frame);
  }
  void unknown(std::uint8_t type) {
    work.add();
    handler.unknown(type);
  }
};

// Applies the frames of one valid packet.
struct PacketReceiver::FrameHandler {
  SessionCore& s;
  bool eliciting = false;
  bool closed = false;
  std::optional<RepairFrame> repair = std::nullopt;
  // How long the newest packet in the next FEEDBACK frame has waited at the peer's port, from a
  // RECEPTION frame.
  Duration waited = {};
  bool refused = false;  // some content could not be stored, so the packet counts as not received

  void operator()(const PingFrame& frame) {
    eliciting = true;
    s.association->received.rewind(frame.settled);
    s.path().feedback.on_asked();
  }
  void operator()(const SettledFrame& frame) { s.association->received.settle(frame.settled); }
  void operator()(const ReceptionFrame& frame) {
    waited = report_time(frame.waited_us);
    if (frame.waited_us > 0) ++s.counters.late_reports_in;
    s.recovery().handle_reception(frame);
  }
  void operator()(const FeedbackFrame& frame) {
    if (s.recovery().handle_report(frame, waited)) {
      s.connection.protection().on_reported(frame.highest);
    } else {
      ++s.counters.malformed;
    }
  }
  void operator()(const LaneCreditFrame& frame) {
    eliciting = true;
    s.streams->sending().raise_lane_credit(frame.limit);
  }
  void operator()(const StreamCreditFrame& frame) {
    eliciting = true;
    Stream* stream = s.streams->find(frame.stream);
    if (stream == nullptr || stream->phase == Stream::Phase::kResetting) return;
    s.streams->sending().raise_credit(*stream, frame.limit);
  }
  void operator()(const StartCreditFrame& frame) {
    eliciting = true;
    s.streams->sending().accept(frame);
  }
  void operator()(const RateFrame& frame) {
    eliciting = true;
    ++s.counters.capacities_in;
    if (s.association->peer_capacity.accept(frame)) s.peer_events.push(Event::Kind::kCapacity);
  }
  void operator()(const ConfirmFrame& frame);
  void operator()(const OpenFrame& frame);
  void operator()(const ResetFrame& frame);
  void operator()(const DataFrame& frame);
  void operator()(const CloseFrame&) { closed = true; }
  void operator()(const CodedFrame&) {}  // handled by coded_packet()
  void operator()(const RepairFrame& frame) {
    if (s.fec == nullptr) {
      unknown(static_cast<std::uint8_t>(FrameType::kRepair));
    } else if (!repair) {  // only the first REPAIR of a packet is used
      repair = frame;
    }
  }
  void unknown(std::uint8_t) {
    eliciting = true;
    ++s.counters.unknown_frames;
  }

 private:
  // Finds the stream of a frame. If the peer has not used the id before, calls `make_new`, which
  // creates the stream or returns nullptr. Returns nullptr if the stream has ended, or if the id is
  // invalid.
  template <typename MakeNew>
  Stream* stream_of(std::uint64_t id, MakeNew&& make_new) {
    if (Stream* stream = s.streams->find(id)) return stream;
    if (s.own_ids.is_ours(id)) {
      if (!s.own_ids.was_used(id)) ++s.counters.malformed;
      return nullptr;
    }
    return s.streams->set().peer_ids().is_new(id >> 1) ? make_new() : nullptr;
  }
  // accept() creates a stream that the peer has opened; has_place() must hold. accept_to_reset()
  // creates such a stream without memory, and resets it at once.
  Stream* accept(std::uint64_t id, Stream::Phase phase) {
    return insert(id, phase, StreamSet::Own::kMemory);
  }
  Stream* accept_to_reset(std::uint64_t id, ResetReason reason) {
    Stream* stream = insert(id, Stream::Phase::kOpen, StreamSet::Own::kNothing);
    if (stream != nullptr) s.streams->life().begin_reset(*stream, reason, s.now);
    return stream;
  }
  Stream* insert(std::uint64_t id, Stream::Phase phase, StreamSet::Own own) {
    Stream* stream = s.streams->set().full() || !s.streams->set().peer_ids().mark_used(id >> 1)
                         ? nullptr
                         : s.streams->life().create(id, phase, own, s.now);
    if (stream == nullptr) refused = true;
    return stream;
  }
  // Charges the peer's credit for bytes up to `end`. Returns false if they exceed the credit.
  bool charge(Stream& stream, std::uint64_t end) {
    const std::uint64_t added = end > stream.receive.charged() ? end - stream.receive.charged() : 0;
    if (added == 0) return true;
    if (end > stream.receive.granted() || !s.streams->receiving().credit().lane().allows(added)) {
      ++s.counters.credit_violations;
      return false;
    }
    s.streams->receiving().credit().lane().on_received(stream.receive.charge(end));
    if (stream.phase == Stream::Phase::kResetting)
      s.streams->receiving().credit().lane().on_released(added);
    return true;
  }
  void drain_resetting(Stream& stream, std::uint64_t end, bool final) {
    if (!charge(stream, end)) return;
    if (final) {
      stream.final_size_known = true;
      s.streams->life().free_if_over(stream);
    }
  }
};

void PacketReceiver::FrameHandler::operator()(const OpenFrame& frame) {
  eliciting = true;
  bool is_new = false;
  Stream* const stream = stream_of(frame.stream, [&]() -> Stream* {
    is_new = true;
    if (s.streams->set().has_place()) return accept(frame.stream, Stream::Phase::kOpen);
    if (accept_to_reset(frame.stream, ResetReason::kNoResources) != nullptr) {
      ++s.counters.streams_refused;
    }
    return nullptr;
  });
  if (stream == nullptr) return;
  if (!is_new && stream->phase != Stream::Phase::kAwaitingOpen)
    return;  // a copy of an earlier OPEN
  ++s.counters.streams_accepted;
  s.streams->life().on_opened(*stream, frame.metadata);
}

void PacketReceiver::FrameHandler::operator()(const ResetFrame& frame) {
  eliciting = true;
  Stream* const stream = stream_of(frame.stream, [&] {
    // The RESET has arrived before the OPEN. Charge the credit for the bytes of the stream, but
    // report no event.
    return accept_to_reset(frame.stream, ResetReason::kNone);
  });
  if (stream == nullptr) return;
  if (stream->phase != Stream::Phase::kResetting) {
    ++s.counters.streams_reset_in;
    s.streams->life().fail(*stream, ResetReason::kNone, s.now);
    stream->heat().event_reason = frame.reason;
    stream->heat().icmp = frame.icmp;
  }
  drain_resetting(*stream, frame.final_size, true);
}

void PacketReceiver::FrameHandler::operator()(const ConfirmFrame& frame) {
  eliciting = true;
  ++s.counters.confirmations_in;
  Stream* const stream = stream_of(frame.stream, [&]() -> Stream* {
    refused = true;  // the OPEN must come first
    return nullptr;
  });
  if (stream == nullptr) return;
  if (stream->phase == Stream::Phase::kResetting) return;
  if (stream->confirmations.hear(frame.sequence, frame.confirmation) && stream->visible()) {
    s.streams->events().notify(*stream, &Stream::Pending::confirmed);
  }
}

void PacketReceiver::FrameHandler::operator()(const DataFrame& frame) {
  eliciting = true;
  Stream* const stream = stream_of(frame.stream, [&]() -> Stream* {
    // The OPEN of the stream is late or lost. The bytes are stored, and the relay gets them after
    // the OPEN has arrived.
    if (s.streams->set().has_place()) return accept(frame.stream, Stream::Phase::kAwaitingOpen);
    refused = true;
    return nullptr;
  });
  if (stream == nullptr) return;
  const std::uint64_t end = frame.offset + frame.bytes.size();
  if (stream->phase == Stream::Phase::kResetting) {
    drain_resetting(*stream, end, frame.fin);
    return;
  }
  ReceiveHalf& receive = stream->receive;
  if (receive.contradicts(end, frame.fin)) {
    ++s.counters.malformed;
    ++s.counters.streams_reset_out;
    s.streams->life().fail(*stream, ResetReason::kProtocolError, s.now);
    return;
  }
  if (!charge(*stream, end)) {
    refused = true;
    return;
  }
  const std::uint64_t in_order = receive.bytes().in_order_end();
  if (!frame.bytes.empty()) {
    const ReceiveHalf::Stored stored =
        receive.store(frame.offset, frame.bytes, s.streams->receiving().reserve_blocks());
    s.counters.stream_bytes_in += stored.bytes;
    if (!stored.all) {
      (stored.scattered ? s.counters.scattered_bytes_in : s.counters.no_memory_drops) +=
          frame.bytes.size() - stored.bytes;
      refused = true;
    }
  }
  const bool ended = frame.fin && !refused && !receive.final_known();
  if (ended) {
    receive.set_final_size(end);
    s.path().feedback.on_urgent(s.now);
  }
  const bool advanced = receive.bytes().in_order_end() > in_order;
  if (stream->released) {
    // The relay has released the stream. Bytes that still arrive are consumed at once, to release
    // their credit.
    if (const std::uint64_t left = receive.bytes().readable(); left > 0) {
      s.streams->receiving().consume(*stream, left, s.path().reach_of_credit(), s.now);
    }
    s.streams->life().free_if_over(*stream);
  } else if ((advanced || (ended && receive.complete())) && stream->visible()) {
    if (advanced) s.streams->receiving().credit().on_readable(*stream, s.now);
    s.streams->events().notify(*stream, &Stream::Pending::readable);
    if (receive.complete()) s.path().feedback.on_urgent(s.now);
  }
}

void PacketReceiver::handle_packet(ConstBytes datagram, const Reception& reception) {
  reception_ = reception;
  ++core_.counters.packets_in;
  core_.counters.bytes_in += datagram.size();
  const std::optional<PacketHeader> header = parse_header(datagram);
  if (!header || header->lane != core_.config.lane) {
    ++core_.counters.malformed;
  } else if (header->type == PacketType::kHello) {
    core_.follow(core_.connection.handle_hello(datagram, *header, core_.situation()));
  } else if (header->version != kVersion) {
    ++core_.counters.version_mismatch;
    core_.connection.answer_stranger(core_.now);
  } else {
    handle_frames(datagram, *header);
  }
}

std::optional<PacketReceiver::Opened> PacketReceiver::open_packet(ConstBytes datagram,
                                                                  const PacketHeader& header) {
  core_.connection.expire(core_.now);
  Protection& protection = core_.connection.protection();
  const bool recognized = protection.recognizes(header.session_tag);
  if (recognized) {
    const std::uint64_t number =
        unwrap_sequence<32>(header.number, core_.association->received.next());
    // A replayed packet is dropped before it is decrypted. It does not show that the peer is alive.
    if (protection.encrypts() && core_.association->received.is_duplicate(number)) {
      ++core_.counters.duplicate_packets_in;
      return std::nullopt;
    }
    const auto frames = protection.open(header, number, datagram, core_.now,
                                        core_.path().rtt.smoothed() + kOldKeyKept);
    if (frames) return Opened{number, *frames};
  }
  if (!core_.retired_streams.full()) {
    const Duration keep = core_.config.initial_rtt + kOldKeyKept;
    if (const auto opened = core_.connection.open_of_newcomer(header, datagram, keep, core_.now)) {
      core_.follow(opened->heard);
      return Opened{opened->number, opened->frames};
    }
  }
  if (recognized || core_.connection.newcomer_recognizes(header.session_tag)) {
    ++(protection.encrypts() ? core_.counters.not_authentic : core_.counters.bad_crc);
  } else {
    ++core_.counters.stale_epoch;
    if (core_.connection.state() != PeerState::kClosed) core_.connection.answer_stranger(core_.now);
  }
  return std::nullopt;
}

void PacketReceiver::handle_frames(ConstBytes datagram, const PacketHeader& header) {
  Protection& protection = core_.connection.protection();
  if (core_.connection.has_closed()) {
    // The peer has not received our CLOSE.
    if (protection.recognizes(header.session_tag))
      core_.connection.close_sequence().on_heard(core_.now);
    ++core_.counters.stale_epoch;
    return;
  }
  const auto opened = open_packet(datagram, header);
  if (!opened) return;
  const auto [number, frames] = *opened;
  if (!core_.association->received.plausible(number)) {
    ++core_.counters.malformed;
    return;
  }
  protection.send_with_proven(core_.association->ledger.next(), core_.now);
  core_.heard();
  if (core_.association->received.is_duplicate(number)) {
    ++core_.counters.duplicate_packets_in;
    return;
  }
  if (!core_.association->received.has_place(number)) {
    ++core_.counters.scattered_packets_in;
    return;
  }
  // The frames of a packet are first checked, and then applied. Most packets of bulk have a single
  // DATA frame, which is parsed only once for both.
  const std::optional<DataFrame> only = parse_only_data(frames);
  if (!only && !walk_frames(frames, IgnoreFrames{})) {
    ++core_.counters.malformed;
    return;
  }
  FrameHandler handler{core_};
  CountedFrames<FrameHandler> counted{handler, core_.work};
  if (only) {
    counted(*only);
  } else {
    walk_frames(frames, counted);
  }
  if (handler.closed) {
    core_.close_by_peer();
    return;
  }
  // Do not record the packet as received, so that the peer retransmits its content.
  if (handler.refused) {
    ++core_.counters.refused_packets_in;
    return;
  }
  core_.path().bytes_in += datagram.size();
  const bool gap = core_.association->received.record(number, core_.now);
  core_.path().own_reception.on_packet(reception_,
                                       number + 1 == core_.association->received.next());
  const bool may_be_repaired = core_.fec != nullptr && (header.is_protected || handler.repair);
  on_packet_recorded(number, gap, handler.eliciting,
                     may_be_repaired ? GapMay::kBeRepaired : GapMay::kBeDisorder);
  if (may_be_repaired) handle_protection(number, frames, handler.repair);
}

// Passes a packet that a code covers, or a repair, to the receiver of the code, which may recover
// lost packets.
void PacketReceiver::handle_protection(std::uint64_t number, ConstBytes frames,
                                       const std::optional<RepairFrame>& repair) {
  if (repair) {
    ++core_.counters.repair_packets_in;
    const bool waits = core_.repairs_wait() || core_.fec->budget.call_is_spent();
    if (!waits) return handle_repair(*repair);
    if (!core_.fec->waiting.push(*repair)) core_.fec->receiver_of(repair->code).refuse_repair();
    return;
  }
  const std::optional<CodedPacket> packet = coded_packet(frames);
  if (!packet) return;
  FecReceiver& receiver = core_.fec->receiver_of(packet->coded.code);
  const std::uint64_t malformed = receiver.counters().malformed;
  receiver.handle_packet(packet->coded.index, number, packet->frames, core_.association->received,
                         core_.now);
  core_.counters.malformed += receiver.counters().malformed - malformed;
  use_repaired(receiver);
}

void PacketReceiver::handle_repair(const RepairFrame& repair) {
  FecReceiver& receiver = core_.fec->receiver_of(repair.code);
  const std::uint64_t malformed = receiver.counters().malformed;
  receiver.handle_repair(repair, core_.association->received, core_.now);
  core_.counters.malformed += receiver.counters().malformed - malformed;
  use_repaired(receiver);
}

void PacketReceiver::work_off_repairs() {
  if (!core_.repairs_wait()) return;
  if (!core_.connection.connected()) return core_.fec->drop_waiting();
  while (core_.repairs_wait() && !core_.fec->budget.call_is_spent()) {
    // A recovered packet may contain CLOSE, which ends the session and empties `waiting`.
    if (core_.fec->receiver.work_waits()) {
      settle_known(core_.fec->receiver);
    } else if (core_.fec->prompt_receiver && core_.fec->prompt_receiver->work_waits()) {
      settle_known(*core_.fec->prompt_receiver);
    } else {
      handle_repair(core_.fec->waiting.front());
      if (!core_.fec->waiting.empty()) core_.fec->waiting.pop();
    }
  }
}

void PacketReceiver::settle_known(FecReceiver& receiver) {
  const std::uint64_t malformed = receiver.counters().malformed;
  if (!receiver.rest_waits()) receiver.settle_known(core_.association->received);
  core_.counters.malformed += receiver.counters().malformed - malformed;
  use_repaired(receiver);
}

// Handles recovered packets until the budget of the call is spent, and defers the rest to the next
// call. If no earlier call has deferred these packets, at least one is handled.
void PacketReceiver::use_repaired(FecReceiver& receiver) {
  const bool were_deferred = receiver.rest_waits();
  std::size_t used = 0;
  for (const FecReceiver::Packet& given : receiver.repaired()) {
    const bool may_wait = used > 0 || were_deferred;
    if (may_wait && core_.fec->budget.call_is_spent()) return receiver.deferred_repaired(used);
    ++used;
    if (core_.association->received.is_duplicate(given.number) ||
        !core_.association->received.has_place(given.number))
      continue;
    if (!walk_frames(given.frames, IgnoreFrames{})) {
      ++core_.counters.malformed;
      continue;
    }
    FrameHandler handler{core_};
    CountedFrames<FrameHandler> counted{handler, core_.work};
    const std::uint64_t visited = core_.work.total();
    walk_frames(given.frames, counted);
    core_.fec->budget.count_frames(core_.work.total() - visited);
    if (handler.closed) {
      core_.close_by_peer();
      return;
    }
    if (handler.refused) {
      ++core_.counters.refused_packets_in;
      continue;
    }
    core_.association->received.record_repaired(given.number);
    on_packet_recorded(given.number, false, handler.eliciting, GapMay::kBeDisorder);
  }
  receiver.end_repaired();
}

void PacketReceiver::on_packet_recorded(std::uint64_t number, bool gap, bool eliciting,
                                        GapMay may) {
  if (eliciting) core_.path().feedback.on_arrival();
  ReorderTolerance disorder;  // decides how long to wait for late packets of the peer
  disorder.set_lateness(core_.association->received.lateness(core_.now));
  if (gap && may == GapMay::kBeRepaired) {
    core_.path().feedback.on_gap(core_.now + FecReceiver::kPatience + disorder.time());
  } else if (gap && core_.path().gap.on_gap(number)) {
    core_.path().feedback.on_gap(core_.now + disorder.time());
  }
  const bool is_certain = core_.path().gap.on_recorded(number, core_.association->received.next());
  if (is_certain && disorder.keeps_order()) core_.path().feedback.on_gap(core_.now);
}

}  // namespace satrelay::stp
