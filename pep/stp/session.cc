#include "pep/stp/session.h"

#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

Session::Session(const Config& config, Arena& arena, control::Pacer& carrier,
                 control::RateController& controller, StreamSource& source, Instant now)
    : impl_(std::make_unique<Impl>(config, arena, carrier, controller, source, now)),
      streams_(impl_->core),
      path_(impl_->core) {}

Session::~Session() = default;

void Session::handle_packet(ConstBytes datagram, Instant now, const Reception& reception) {
  impl_->core.begin_call(now);
  impl_->core.own_repairs.begin_call(now);
  impl_->receiver.handle_packet(datagram, reception);
  if (impl_->work_waits()) impl_->go_on();
}

void Session::handle_timeout(Instant now, std::uint64_t most) {
  impl_->core.begin_call(now, most);
  impl_->core.own_repairs.renew(now);
  if (impl_->work_waits()) impl_->go_on();
  impl_->timers.run();
}

void Session::set_observer(PacketObserver* observer) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.connection.set_observer(observer);
}

void Session::set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.connection.set_secrets(psk, other);
}

void Session::announce_capacity(BitRate capacity) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.own_capacity.announce(capacity);
}

void Session::note_late_sending(Instant began, Instant ended) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.late_sendings.add(began, ended);
}

void Session::set_capacity(BitRate capacity, control::CutCause cause) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.path().gate.set_capacity(capacity, cause);
}

void Session::set_share(BitRate share, Instant now) {
  impl_->core.change(Changes::Kind::kAny);
  impl_->core.path().gate.set_share(share, now);
}

void Session::close(Instant now) {
  impl_->core.change(Changes::Kind::kAny, now);
  impl_->core.close();
}

std::size_t Session::poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                                  std::span<PolledPacket> packets, Instant now,
                                  const schedule::Turn& turn) {
  impl_->core.now = now;
  impl_->writer.begin(turn);
  return impl_->sender.poll(rooms, before, packets);
}

std::span<const schedule::ClassBytes> Session::last_classes() const { return impl_->writer.sent(); }

schedule::ClassSet Session::waiting() const {
  const schedule::ClassSet waiting =
      impl_->core.streams->sending().has_bytes(schedule::kEveryClass);
  // Return early: before every packet, the relay calls this function for many sessions, and most of
  // them have nothing to send.
  if (waiting == 0 || !impl_->demand.data_allowed()) return 0;
  const Protection& protection = impl_->core.connection.protection();
  return protection.is_worn_out(impl_->core.association->ledger.next()) ? 0 : waiting;
}

bool Session::may_send(Instant now) const { return impl_->core.path().gate.open(now); }

bool Session::may_send_but_for_carrier(Instant now) const {
  return impl_->core.path().gate.open_but_for_carrier(now);
}

bool Session::shut_by_share(Instant now) const {
  return impl_->core.path().gate.shut_by_share(now);
}

std::size_t Session::waiting_hosts(schedule::ClassId stream_class) const {
  return std::max<std::size_t>(impl_->core.streams->sending().schedule().hosts(stream_class), 1);
}

std::optional<Event> Session::poll_event() {
  if (std::optional<Event> event = impl_->core.peer_events.pop()) return event;
  return impl_->core.streams->poll_event();
}

Instant Session::next_timeout() const {
  return impl_->work_waits() ? impl_->core.now : impl_->timers.next();
}

PeerState Session::peer_state() const { return impl_->core.connection.state(); }

std::uint64_t Session::peer_epoch() const { return impl_->core.connection.peer().epoch; }

Capabilities Session::agreed() const {
  return impl_->core.connection.connected() ? impl_->core.connection.agreed() : Capabilities();
}

bool Session::doubts_peer() const {
  return impl_->core.association->doubts_peer && impl_->core.connection.is_alive();
}

bool Session::doubts_key(Instant now) const { return impl_->core.connection.doubts_key(now); }

BitRate Session::peer_capacity() const { return impl_->core.association->peer_capacity.capacity(); }

control::Priority Session::last_priority() const { return impl_->core.path().gate.last_priority(); }

Session::FirstCredit Session::first_credit() const {
  const HelloFrame& peer = impl_->core.connection.peer();
  return {.lane = peer.lane_credit, .stream = peer.stream_credit};
}

bool Session::has_events() const {
  return !impl_->core.peer_events.empty() || !impl_->core.streams->events().empty();
}

bool Session::work_waits() const { return impl_->work_waits(); }

bool Session::repairs_wait() const { return impl_->core.repairs_wait(); }

void Session::work_off_repairs(Instant now) {
  impl_->core.begin_call(now);
  impl_->receiver.work_off_repairs();
}

std::uint64_t Session::visited() const { return impl_->core.work.total(); }

Counters Session::counters() const {
  Counters counters = impl_->core.counters;
  impl_->core.connection.write_counts(counters);
  if (impl_->core.fec != nullptr) {
    const FecReceiver::Counters received = impl_->core.fec->received();
    counters.repair_used = received.used;
    counters.repair_wasted = received.wasted;
    counters.repair_dropped = impl_->core.fec->dropped;
    counters.repair_starved = impl_->core.fec->sender.starved();
    counters.repair_overload = received.overload;
  }
  const StreamWriter::Totals& sent = impl_->writer.totals();
  counters.stream_bytes_out = sent.new_bytes;
  counters.retransmitted_bytes = sent.retransmitted_bytes;
  counters.copies_out = sent.copies;
  using enum control::CutCause;
  const RateCuts& cuts = impl_->core.path().gate.cuts();
  counters.rate_cuts_delay = cuts.count(kDelay);
  counters.rate_cuts_loss = cuts.count(kLoss);
  counters.rate_cuts_controller = cuts.count(kController);
  counters.rate_cuts_announced = cuts.count(kAnnounced);
  counters.rate_cuts_commanded = cuts.count(kCommanded);
  counters.rate_cuts_configured = cuts.count(kConfigured);
  return counters;
}

std::optional<std::string> Session::audit() const { return impl_->core.streams->audit(); }

BlocksHeld Session::blocks_held() const {
  BlocksHeld held;
  impl_->core.streams->set().add_held(held);
  impl_->core.retired_streams.add_held(held);
  return held;
}

}  // namespace satrelay::stp
