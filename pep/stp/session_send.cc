#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// Pieces of a stream smaller than this are not worth a frame at the end of a packet.
constexpr std::size_t kMinFragment = 64;
// With so much room a source writes whatever it has.
constexpr std::uint64_t kAmpleRoom = 128 * 1024;
// After so many packets that nobody need report, one asks for a report: else the peer would never
// settle a sender of feedback.
constexpr int kMaxUnasked = 32;
// Streams that may be asked for bytes for one packet.
constexpr std::size_t kStreamsAsked = 64;
// Part of the packets in flight that only control may use.
constexpr std::uint32_t kControlShare = 16;

}  // namespace

// What the path is known to carry and both ends take; HELLOs and OPENs fit whatever the peer says.
std::size_t Session::Impl::datagram_limit() const {
  return connected() ? connection->path.limit()
                     : std::min(config.datagram_base, config.datagram_size);
}

std::uint64_t Session::Impl::free_memory() const {
  // A quarter stays for what is not ours: the arena has other users.
  return arena.free_blocks() * arena.block_size() / 4 * 3;
}

bool Session::Impl::data_allowed() const {
  if (!connected()) return false;
  if (connection->probes.frozen() && connection->probe_packets == 0) return false;
  // A window that nothing fills of which a report would come opens for one packet that asks.
  if (!gate.window_open() && connection->probes.in_flight() > 0 && connection->probe_packets == 0)
    return false;
  const std::uint64_t in_flight =
      connection->ledger.next() - connection->losses.oldest_unresolved();
  return in_flight < config.max_packets_in_flight - config.max_packets_in_flight / kControlShare;
}

// Nothing waits that could be sent.
bool Session::Impl::idle() const { return connection->copies.empty() && idle_but_for_copies(); }

bool Session::Impl::idle_but_for_copies() const {
  return opens.empty() && fins.empty() && has_bytes(turn.open) == 0;
}

const Stream* Session::Impl::first_stream() const {
  const ClassSet waiting = has_bytes(turn.open);
  if (waiting == 0) return nullptr;
  const bool has_turn = (waiting & class_bit(turn.first)) != 0;
  return schedule.next(has_turn ? turn.first : lowest_class(waiting));
}

// Whether poll_packet() would write data if the pacer let it.
bool Session::Impl::data_waits() const { return data_allowed() && !idle(); }

bool Session::Impl::control_waits() const {
  return connection->ping_due || !resets.empty() || !credits.empty() || confirmations_due() ||
         connection->lane_receive.urgent() || connection->lane_receive.lost() ||
         own_capacity.due() || connection->start_credit.due();
}

std::size_t Session::Impl::poll_packet(MutableBytes out) {
  const MutableBytes room = out;
  out = out.first(std::min<std::size_t>(out.size(), datagram_limit()));
  if (out.size() < kMinDatagram) return 0;
  if (state == PeerState::kClosed && closed_here) {
    return close_packets > 0 ? send_close(out) : 0;
  }
  run_timers();
  if (connected()) greet_again();
  if (handshake.hello_due(now)) return send_hello(out);
  if (!connected() || protection.is_worn_out(connection->ledger.next())) return 0;
  gate.update(connection->rtt.smoothed(), datagram_limit(), now);
  if (gate.open(now) && mtu_probe_waits()) {
    if (const std::size_t size = send_mtu_probe(room); size > 0) return size;
  }
  if (const std::size_t size = send_repair(out); size > 0) return size;
  const bool is_protected = gate.open(now) && data_waits() && wants_protection();
  PacketBuilder packet(is_protected ? out.first(out.size() - kMaxRepairOverhead) : out,
                       protection.trailer_size());
  const bool is_ping = connection->ping_due;
  write_control(packet);
  if (gate.open(now) && data_waits()) {
    const std::size_t items = packet.items().size();
    write_data_frames(packet);
    if (packet.items().size() > items && connection->probe_packets > 0) --connection->probe_packets;
  }
  if (is_protected && !packet.items().empty()) packet.protect();
  if (packet.empty()) return 0;
  if (is_ping && connection->probes.frozen() && connection->path.is_raised() && gate.open(now)) {
    // Small and large in turn: an outage eats both, a black hole the large ones only.
    connection->large_ping = !connection->large_ping;
    if (connection->large_ping) packet.pad();
  }
  return finish_packet(packet);
}

// A peer that is not heard may be another by now, or take us for another; and without reports there
// is no telling whether it knows the present key. Then it is asked.
void Session::Impl::greet_again() {
  protection.prepare(connection->ledger.next(), now);
  const bool lacks_keys = needs_keys();
  if (!lacks_keys && state != PeerState::kSuspect) return;
  if (key_exchange) key_exchange->want_answer();
  handshake.ask_again(now);
}

std::size_t Session::Impl::finish_packet(PacketBuilder& packet) {
  if (!packet.eliciting() && ++connection->unasked_packets >= kMaxUnasked &&
      packet.remaining() >= kMaxPingFrameSize) {
    write_ping(packet.frames(), {connection->losses.oldest_unresolved()});
    packet.set_eliciting();
  }
  if (packet.eliciting()) connection->unasked_packets = 0;
  make_ledger_room();
  PacketHeader header;
  header.lane = config.lane;
  header.is_protected = packet.is_protected();
  if (packet.is_protected()) protect(connection->ledger.next(), packet.written(), packet.items());
  const MutableBytes whole = packet.close(header, connection->ledger.next(), protection);
  SentPacket& sent =
      connection->ledger.append(now, whole.size(), packet.eliciting(), packet.items(),
                                connection->losses.oldest_unresolved());
  sent.low_priority = control::is_low(gate.on_sent(packet.purpose(), whole.size(), now));
  if (packet.eliciting()) connection->probes.on_sent(now);
  return count_out(whole);
}

std::size_t Session::Impl::send_hello(MutableBytes out) {
  gate.on_unlisted();
  HelloFrame hello = handshake.make_hello(hello_lane_credit, config.stream_receive_limit, now);
  HelloKeys keys;
  if (key_exchange) {
    keys.accept = key_exchange->accept(hello);
    take_accepted_keys();
    hello.answer_wanted = hello.answer_wanted || key_exchange->wants_answer();
    if (hello.answer_wanted) keys.offer = key_exchange->offer(hello, now);
  }
  PacketBuilder packet(out, kTrailerSize);
  write_hello(packet.frames(), hello, keys);
  PacketHeader header;
  header.type = PacketType::kHello;
  header.lane = config.lane;
  header.number = handshake.hello_number();
  const MutableBytes whole = packet.close(header);
  protection.show(PacketObserver::Way::kSent, whole, 0);
  return count_out(whole);
}

bool Session::Impl::mtu_probe_waits() const {
  return data_allowed() && !connection->probes.frozen() && connection->path.probe_due() > 0;
}

// Nothing that would be missed: PING and PADDING.
std::size_t Session::Impl::send_mtu_probe(MutableBytes out) {
  const std::size_t size = connection->path.probe_due();
  if (size > out.size()) return 0;
  PacketBuilder packet(out.first(size), protection.trailer_size());
  if (connection->path.is_last_of_round()) {
    connection->announced_settled = connection->losses.oldest_unresolved();
    write_ping(packet.frames(), {connection->announced_settled});
  }
  packet.pad();
  packet.set_eliciting();
  connection->path.on_probe_sent(connection->ledger.next());
  ++counters.mtu_probes;
  return finish_packet(packet);
}

std::size_t Session::Impl::send_close(MutableBytes out) {
  --close_packets;
  last_close = now;
  gate.on_unlisted();
  if (protection.is_worn_out(closing_number)) return 0;
  PacketBuilder packet(out, protection.trailer_size());
  write_close(packet.frames(), {ResetReason::kShutdown});
  PacketHeader header;
  header.lane = config.lane;
  return count_out(packet.close(header, closing_number++, protection));
}

// Debits and counts a finished packet; its size.
std::size_t Session::Impl::count_out(ConstBytes packet) {
  gate.debit(packet.size(), now);
  ++counters.packets_out;
  counters.bytes_out += packet.size();
  return packet.size();
}

// What a frame that begins at `before` costs the return link: its headers too, if it leaves alone.
std::size_t Session::Impl::cost_of(const ByteWriter& frames, std::size_t before) const {
  const bool is_alone = before == 0 && !data_waits();
  return frames.written() - before +
         (is_alone ? kHeaderSize + protection.trailer_size() + config.datagram_overhead : 0);
}

// What leaves whatever the pacer says, though it is debited: small, and the peer waits for it.
void Session::Impl::write_control(PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  if (connection->ping_due) {
    connection->announced_settled = connection->losses.oldest_unresolved();
    write_ping(frames, {connection->announced_settled});
    packet.set_eliciting();
    connection->ping_due = false;
  }
  if (now >= connection->feedback.due() && connection->received.next() > 0) {
    const std::size_t before = frames.written();
    ReportContext context;
    context.repeats = connection->feedback.repeats();
    context.interval_ms =
        static_cast<std::uint64_t>(connection->feedback.interval().to_milliseconds());
    context.bytes_received = connection->session_bytes_in;
    context.stored = connection->lane_receive.outstanding();
    context.repaired = fec != nullptr ? fec->receiver.used_in_session() : 0;
    const bool complete = connection->received.write_report(frames, context, now);
    const std::size_t bytes = cost_of(frames, before);
    connection->feedback.on_report(bytes, complete, now);
    ++counters.feedback_out;
    update_start_credit();
    connection->lane_receive.update(free_memory());
    if (connection->lane_receive.due() && packet.fits(kMaxLaneCreditFrameSize))
      connection->lane_receive.announce_again();
  }
  if ((connection->lane_receive.lost() || connection->lane_receive.urgent()) &&
      packet.fits(kMaxLaneCreditFrameSize)) {
    connection->lane_receive.take_lost();
    const std::size_t before = frames.written();
    write_lane_credit(frames, {connection->lane_receive.announce()});
    packet.add_item(SentItem::make(ItemKind::kLaneCredit, 0, 0));
    connection->feedback.debit(cost_of(frames, before), now);
  }
  if (connection->start_credit.due() && packet.fits(kMaxStartCreditFrameSize)) {
    const StartCreditFrame frame = connection->start_credit.take();
    write_start_credit(frames, frame);
    packet.add_item(SentItem::make(ItemKind::kStartCredit, 0, 0, frame.sequence));
  }
  if (own_capacity.due() && packet.fits(kMaxRateFrameSize)) {
    const RateFrame frame = own_capacity.take();
    write_rate(frames, frame);
    packet.add_item(SentItem::make(ItemKind::kRate, 0, 0, frame.sequence));
    ++counters.capacities_out;
  }
  while (!resets.empty() && packet.fits(kMaxResetFrameSize)) {
    Stream& stream = *resets.front();
    resets.remove(stream);
    stream.reset_due = false;
    write_reset(frames, {stream.id, stream.reset_reason, stream.reset_final_size});
    packet.add_item(ItemKind::kReset, stream);
  }
  while (!credits.empty() && packet.fits(kMaxStreamCreditFrameSize)) {
    Stream& stream = *credits.front();
    credits.remove(stream);
    const std::uint64_t limit =
        stream.receive.tell(stream.receive.consumed() + stream_window(stream));
    const std::size_t before = frames.written();
    write_stream_credit(frames, {stream.id, limit});
    packet.add_item(ItemKind::kStreamCredit, stream);
    connection->feedback.debit(cost_of(frames, before), now);
  }
  if (confirmations_due()) write_confirmations(packet);
  // Once a report has been understood, the peer need not repeat what it said.
  if (connection->losses.frontier() > connection->announced_settled &&
      (!packet.empty() || gate.open(now)) && (data_waits() || !packet.empty()) &&
      packet.remaining() >= kMaxPingFrameSize) {
    const std::uint64_t settled = connection->losses.oldest_unresolved();
    if (settled > connection->announced_settled) {
      connection->announced_settled = settled;
      write_settled(frames, {settled});
    }
  }
}

// Progress is told no oftener than packets are reported on.
void Session::Impl::write_confirmations(PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  while (!confirms.empty() && packet.fits(kMaxConfirmFrameSize)) {
    Stream& stream = *confirms.front();
    confirms.remove(stream);
    const std::uint64_t sequence = stream.confirmations.on_sent();
    const std::size_t before = frames.written();
    write_confirm(frames, {stream.id, sequence, stream.confirmations.ours()});
    packet.add_item(SentItem::make(ItemKind::kConfirm, stream.index, stream.generation, sequence));
    connection->feedback.debit(cost_of(frames, before), now);
    ++counters.confirmations_out;
  }
  if (confirms.empty()) connection->next_confirm = now + connection->feedback.interval();
}

void Session::Impl::write_data_frames(PacketBuilder& packet) {
  if (!write_opens(packet)) return;
  write_copies(packet);
  write_fins(packet);
  if (!turn.streams) return;
  write_class(packet, turn.first);
  // What is left of the packet is for the others.
  for (ClassSet others = has_bytes(turn.open) & ~class_bit(turn.first);
       others != 0 && packet.remaining() >= kMinFragment; others &= others - 1) {
    write_class(packet, lowest_class(others));
  }
}

void Session::Impl::write_class(PacketBuilder& packet, ClassId stream_class) {
  if ((has_bytes(turn.open) & class_bit(stream_class)) == 0) return;
  write_retransmissions(packet, stream_class, RepairCap::kShare);
  write_new_data(packet, stream_class);
  write_retransmissions(packet, stream_class, RepairCap::kNone);
}

void Session::Impl::count_class(const Stream& stream, std::size_t bytes) {
  const ClassId id = stream.group->stream_class;
  const std::size_t booked = bytes * StreamSchedule::factor(stream);
  const auto found = std::ranges::find(sent_of_classes, id, &ClassBytes::stream_class);
  if (found != sent_of_classes.end()) {
    found->bytes += bytes;
    found->booked += booked;
  } else {
    sent_of_classes.push_back({id, bytes, booked});
  }
}

// False if an OPEN still waits for the next packet: no data goes before it.
bool Session::Impl::write_opens(PacketBuilder& packet) {
  while (!opens.empty()) {
    Stream& stream = *opens.front();
    if (!packet.fits(open_frame_size(stream.id, stream.metadata_size))) return false;
    opens.remove(stream);
    stream.open_due = false;
    write_open_frame(packet, stream);
    // Its first bytes follow in this very packet if there are any.
    schedule.promote(stream);
  }
  return true;
}

void Session::Impl::write_open_frame(PacketBuilder& packet, Stream& stream) {
  write_open(packet.frames(), {stream.id, ConstBytes(stream.metadata).first(stream.metadata_size)});
  packet.add_item(ItemKind::kOpen, stream);
}

// Writes up to `available` bytes from `offset` on as one DATA frame; 0 if the packet has no room
// worth using.
std::size_t Session::Impl::write_data(PacketBuilder& packet, Stream& stream, std::uint64_t offset,
                                      std::uint64_t available, unsigned times_lost) {
  const std::size_t header = data_header_size(stream.id, offset);
  const std::size_t room = packet.remaining();
  if (room <= header + kDataLengthSize || !packet.can_add_item()) return 0;
  // A frame that fills the packet needs no length field.
  const bool fills = available >= room - header;
  const std::size_t size = fills ? room - header
                                 : static_cast<std::size_t>(std::min<std::uint64_t>(
                                       available, room - header - kDataLengthSize));
  if (size < available && size < kMinFragment) return 0;
  const bool again = offset < stream.send.sent();
  packet.carries(again ? control::Purpose::kRetransmission : control::Purpose::kNewData);
  ByteWriter& frames = packet.frames();
  const MutableBytes type = frames.reserve(1);
  write_varint(frames, stream.id);
  write_varint(frames, offset);
  if (!fills) frames.u16(static_cast<std::uint16_t>(size));
  const bool fin = stream.send.take(offset, frames.reserve(size));
  store_u8(type.data(),
           static_cast<std::uint8_t>(static_cast<unsigned>(FrameType::kData) |
                                     (fin ? kDataFin : 0U) | (fills ? 0U : kDataHasLength)));
  packet.add_item(SentItem::make(fin ? ItemKind::kDataAndFin : ItemKind::kData, stream.index,
                                 stream.generation, offset, static_cast<std::uint16_t>(size),
                                 times_lost));
  count_class(stream, size);
  return size;
}

// While new bytes of other streams wait, lost ones have their share; otherwise, and for what others
// leave of a packet, all there is.
void Session::Impl::write_retransmissions(PacketBuilder& packet, ClassId stream_class,
                                          RepairCap cap) {
  while (Stream* const lost = schedule.next_lost(stream_class)) {
    Stream& stream = *lost;
    const bool capped = cap == RepairCap::kShare && connection->lane_send.available() > 0 &&
                        schedule.others_wait(stream);
    if (capped && !schedule.repair_has_turn(stream_class)) return;
    const auto [range, times_lost] = stream.send.first_lost();
    const std::size_t size = write_data(packet, stream, range.begin, range.size(), times_lost);
    if (size == 0) return;
    counters.retransmitted_bytes += size;
    plan_copies(stream, range.begin, size, times_lost);
    if (capped) schedule.on_repaired(stream, size, loss_ratio());
    schedule.update_lost(stream);
    if (packet.remaining() == 0 && stream.send.has_lost()) schedule.rotate_lost(stream);
  }
}

void Session::Impl::plan_copies(const Stream& stream, std::uint64_t offset, std::size_t size,
                                unsigned times_lost) {
  const unsigned count = CopyQueue::copies(times_lost);
  if (count == 0) return;
  connection->copies.push({.offset = offset,
                           .stream = stream.index,
                           .generation = stream.generation,
                           .length = static_cast<std::uint16_t>(size),
                           .more = count - 1,
                           .due = now + CopyQueue::kSpread});
}

// When they are due, or when nothing else waits.
void Session::Impl::write_copies(PacketBuilder& packet) {
  for (std::size_t i = 0; i < CopyQueue::kRoom && !connection->copies.empty(); ++i) {
    CopyQueue::Copy copy = connection->copies.front();
    if (copy.due > now && !idle_but_for_copies()) return;
    Stream& stream = streams.at(copy.stream);
    const bool wanted =
        stream.phase != Stream::Phase::kFree && stream.phase != Stream::Phase::kResetting &&
        stream.generation == copy.generation && stream.send.wants_copy(copy.offset, copy.length);
    if (wanted) {
      const std::size_t size =
          write_data(packet, stream, copy.offset, copy.length, LostRanges::kMaxLosses);
      if (size == 0) return;
      schedule.update_lost(stream);  // the copy may have been all that was lost
      counters.retransmitted_bytes += size;
      ++counters.copies_out;
    }
    connection->copies.pop();
    if (!wanted || copy.more == 0) continue;
    --copy.more;
    copy.due = now + CopyQueue::kSpread;
    connection->copies.push(copy);
  }
}

// FINs that no byte can carry.
void Session::Impl::write_fins(PacketBuilder& packet) {
  for (std::size_t i = 0; i < kStreamsAsked && !fins.empty(); ++i) {
    Stream& stream = *fins.front();
    work.add();
    if (stream.send.fin_due()) {
      if (!packet.fits(data_header_size(stream.id, stream.send.sent()) + kDataLengthSize)) return;
      write_fin(packet, stream);
    }
    fins.remove(stream);
  }
}

void Session::Impl::write_fin(PacketBuilder& packet, Stream& stream) {
  const std::uint64_t end = stream.send.sent();
  ByteWriter& frames = packet.frames();
  frames.u8(static_cast<std::uint8_t>(FrameType::kData) | kDataFin | kDataHasLength);
  write_varint(frames, stream.id);
  write_varint(frames, end);
  frames.u16(0);
  stream.send.take(end, {});
  packet.add_item(SentItem::make(ItemKind::kDataAndFin, stream.index, stream.generation, end));
}

void Session::Impl::write_new_data(PacketBuilder& packet, ClassId stream_class) {
  wake_lane_waiters();
  // Very many may have nothing after all.
  for (std::size_t i = 0; i < kStreamsAsked && connection->lane_send.available() > 0; ++i) {
    Stream* const next = schedule.next_new(stream_class);
    if (next == nullptr) return;
    Stream& stream = *next;
    work.add();
    if (lane_available(stream) == 0) {
      update_active(stream);
      continue;
    }
    if (stream.send.unsent() == 0) {
      if (!has_room(stream)) {
        mark_blocked(stream);
        update_active(stream);
        continue;
      }
      const std::uint16_t generation = stream.generation;
      source.produce(StreamId{stream.id}, stream.context, now);
      // The source may have done anything to the stream, ending it included.
      const bool same = stream.generation == generation && stream.phase == Stream::Phase::kOpen;
      if (same && stream.send.unsent() == 0 && !stream.send.finished()) {
        // Nothing came: no more calls until the relay says so, or, if it may have lacked room for
        // a whole block, until there is more.
        stream.ready = false;
        if (room(stream) < kAmpleRoom) mark_blocked(stream);
        update_active(stream);
      }
      continue;
    }
    const std::uint64_t credit = stream.send.credit(connection->peer_start_credit.limit());
    if (credit == 0) {  // it was taken back, and that has yet to reach this stream
      update_active(stream);
      continue;
    }
    const std::uint64_t available =
        std::min({stream.send.unsent(), credit, lane_available(stream)});
    const std::size_t size = write_data(packet, stream, stream.send.sent(), available, 0);
    if (size == 0) return;
    connection->lane_send.used += size;
    counters.stream_bytes_out += size;
    schedule.on_new_sent(stream, size, loss_ratio());
    update_active(stream);
    if (packet.remaining() == 0) return;
  }
}

}  // namespace satrelay::stp
