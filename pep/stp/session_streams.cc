// Session::StreamAccess: the streams of a session, as the relay uses them.
#include <algorithm>

#include "pep/stp/session_core.h"

namespace satrelay::stp {

std::optional<StreamId> Session::StreamAccess::open(ConstBytes metadata, std::uint32_t context,
                                                    Instant now) {
  SessionCore& s = core_;
  s.change(Changes::Kind::kAny, now);
  if (!s.connection.connected() || metadata.size() > kMaxMetadata ||
      !s.streams->set().has_place()) {
    return std::nullopt;
  }
  const std::uint64_t id = s.own_ids.next();
  if (s.streams->life().open(id, metadata, context, now) == nullptr) return std::nullopt;
  s.own_ids.use_next();
  ++s.counters.streams_opened;
  return StreamId{id};
}

void Session::StreamAccess::trim(StreamId stream) {
  Stream* s = core_.change(Changes::Kind::kAny).visible(stream);
  if (s == nullptr) return;
  core_.streams->sending().cool(*s);
}

void Session::StreamAccess::set_context(StreamId stream, std::uint32_t context) {
  Stream* s = core_.change(Changes::Kind::kAny).visible(stream);
  if (s == nullptr) return;
  s->context = context;
  // The relay has read the metadata of the peer's OPEN by now. The metadata of our own OPEN may
  // have to be retransmitted.
  if (!core_.own_ids.is_ours(s->id)) s->forget_metadata();
}

void Session::StreamAccess::set_group(StreamId stream, schedule::ClassId stream_class,
                                      std::uint64_t host) {
  Streams& streams = core_.change(Changes::Kind::kAny);
  if (Stream* s = streams.visible(stream))
    streams.sending().schedule().join(*s, stream_class, host);
}

void Session::StreamAccess::set_prompt(StreamId stream, bool prompt) {
  if (Stream* s = core_.change(Changes::Kind::kAny).visible(stream))
    s->prompt = prompt && core_.connection.connected() && core_.may_repair();
}

void Session::StreamAccess::reset(StreamId stream, ResetReason reason, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kControl, now);
  Stream* s = streams.visible(stream);
  if (s == nullptr) return;
  ++core_.counters.streams_reset_out;
  streams.life().reset(*s, reason, now);
}

void Session::StreamAccess::reset(StreamId stream, const IcmpRefusal& refusal, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kControl, now);
  Stream* s = streams.visible(stream);
  if (s == nullptr) return;
  ++core_.counters.streams_reset_out;
  streams.life().reset(*s, ResetReason::kIcmp, now);
  s->heat().icmp = refusal;
}

void Session::StreamAccess::release(StreamId stream, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kAny, now);
  if (Stream* s = streams.visible(stream))
    streams.life().release(*s, core_.path().reach_of_credit(), now);
}

void Session::StreamAccess::set_ready(StreamId stream, bool ready) {
  Streams& streams = core_.change(Changes::Kind::kBytes);
  if (Stream* s = streams.visible(stream)) streams.sending().set_ready(*s, ready);
}

std::size_t Session::StreamAccess::write(StreamId stream, ConstBytes bytes, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kBytes, now);
  Stream* s = streams.visible(stream);
  return s == nullptr ? 0 : streams.sending().write(*s, bytes, now);
}

bool Session::StreamAccess::write_whole(StreamId stream, std::span<const ConstBytes> parts,
                                        Instant now) {
  Streams& streams = core_.change(Changes::Kind::kBytes, now);
  Stream* s = streams.visible(stream);
  return s != nullptr && streams.sending().write_whole(*s, parts, now);
}

void Session::StreamAccess::wait_for_room(StreamId stream, std::uint64_t bytes, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kBytes, now);
  if (Stream* s = streams.visible(stream)) streams.sending().wait_for_room(*s, bytes, now);
}

void Session::StreamAccess::set_rest(StreamId stream, std::uint64_t bytes, Behind behind) {
  Stream* s = core_.change(Changes::Kind::kBytes).visible(stream);
  if (s == nullptr) return;
  if (s->hot().rest != bytes) s->heat().rest = bytes;
  s->behind_rest = behind;
}

void Session::StreamAccess::finish(StreamId stream) {
  Streams& streams = core_.change(Changes::Kind::kBytes);
  if (Stream* s = streams.visible(stream)) streams.sending().finish(*s);
}

void Session::StreamAccess::confirm(StreamId stream, const Confirmation& confirmation,
                                    Instant now) {
  Streams& streams = core_.change(Changes::Kind::kControl, now);
  if (Stream* s = streams.visible(stream)) streams.due().confirm(*s, confirmation, now);
}

bool Session::StreamAccess::confirmed(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr || (s->confirmations.all_acknowledged() && !ConfirmList::contains(*s));
}

std::uint64_t Session::StreamAccess::send_room(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? 0 : core_.streams->sending().room(*s);
}

std::uint64_t Session::StreamAccess::turn_left(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  if (s == nullptr) return 0;
  const std::uint64_t left = core_.streams->sending().schedule().turn_left(*s);
  // The last packet of a turn is filled, even if it exceeds the turn.
  return left == StreamSchedule::kNoLimit ? left : left + core_.datagram_limit();
}

std::uint64_t Session::StreamAccess::unsent(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? 0 : s->send.unsent();
}

std::uint64_t Session::StreamAccess::unacknowledged(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? 0 : s->send.unacknowledged();
}

std::uint64_t Session::StreamAccess::credit(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? 0 : core_.streams->sending().credit().of(*s);
}

BitRate Session::StreamAccess::share(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  const std::uint64_t sharers = s == nullptr ? 1 : core_.streams->sending().schedule().sharers(*s);
  return core_.path().gate.steady_rate().scaled(1, sharers);
}

BitRate Session::StreamAccess::share_of_new() const {
  return core_.path().gate.steady_rate().scaled(1, core_.streams->sending().schedule().hosts() + 1);
}

void Session::StreamAccess::consume(StreamId stream, std::uint64_t count, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kAny, now);
  Stream* s = streams.visible(stream);
  if (s == nullptr) return;
  const std::uint64_t taken = std::min(count, s->receive.bytes().readable());
  streams.receiving().consume(*s, taken, core_.path().reach_of_credit(), now);
}

void Session::StreamAccess::set_reader_needs(StreamId stream, std::uint64_t bytes, Instant now) {
  Streams& streams = core_.change(Changes::Kind::kAny, now);
  if (Stream* s = streams.visible(stream)) streams.receiving().set_reader_needs(*s, bytes, now);
}

const Reassembler* Session::StreamAccess::received(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? nullptr : &s->receive.bytes();
}

bool Session::StreamAccess::received_end(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s != nullptr && s->receive.complete();
}

Confirmation Session::StreamAccess::confirmation(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? Confirmation() : s->confirmations.theirs();
}

ConstBytes Session::StreamAccess::metadata(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? ConstBytes() : s->metadata();
}

std::optional<std::uint32_t> Session::StreamAccess::context(StreamId stream) const {
  const Stream* s = core_.streams->visible(stream);
  return s == nullptr ? std::nullopt : std::optional(s->context);
}

std::size_t Session::StreamAccess::count() const { return core_.streams->set().open_count(); }

std::uint64_t Session::StreamAccess::bytes_stored() const {
  return core_.streams->receiving().credit().lane().outstanding();
}

bool Session::StreamAccess::has_lane_share() const { return core_.streams->has_lane_share(); }

}  // namespace satrelay::stp
