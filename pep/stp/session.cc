#include "pep/stp/session.h"

#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

// --- Session -----------------------------------------------------------------------------------

Session::Session(const Config& config, Arena& arena, control::Pacer& carrier,
                 control::RateController& controller, StreamSource& source, Instant now)
    : impl_(std::make_unique<Impl>(config, arena, carrier, controller, source, now)),
      streams_(*impl_),
      path_(*impl_) {}

Session::~Session() = default;

void Session::handle_packet(ConstBytes datagram, Instant now, const Reception& reception) {
  impl_->begin_call(now);
  impl_->own_repairs.begin_call(now);
  impl_->receiver.handle_packet(datagram, reception);
  if (impl_->work_waits()) impl_->go_on();
}

void Session::handle_timeout(Instant now, std::uint64_t most) {
  impl_->begin_call(now, most);
  impl_->own_repairs.renew(now);
  if (impl_->work_waits()) impl_->go_on();
  impl_->run_timers();
}

void Session::set_observer(PacketObserver* observer) {
  impl_->change(Changes::Kind::kAny);
  impl_->connection.set_observer(observer);
}

void Session::set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other) {
  impl_->change(Changes::Kind::kAny);
  impl_->connection.set_secrets(psk, other);
}

void Session::announce_capacity(BitRate capacity) {
  impl_->change(Changes::Kind::kAny);
  impl_->own_capacity.announce(capacity);
}

void Session::note_late_sending(Instant began, Instant ended) {
  impl_->change(Changes::Kind::kAny);
  impl_->late_sendings.add(began, ended);
}

void Session::set_capacity(BitRate capacity, control::CutCause cause) {
  impl_->change(Changes::Kind::kAny);
  impl_->path().gate.set_capacity(capacity, cause);
}

void Session::set_share(BitRate share, Instant now) {
  impl_->change(Changes::Kind::kAny);
  impl_->path().gate.set_share(share, now);
}

void Session::close(Instant now) {
  impl_->change(Changes::Kind::kAny, now);
  impl_->close();
}

std::size_t Session::poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                                  std::span<PolledPacket> packets, Instant now,
                                  const schedule::Turn& turn) {
  impl_->now = now;
  impl_->writer.begin(turn);
  return impl_->poll_packets(rooms, before, packets);
}

std::span<const schedule::ClassBytes> Session::last_classes() const { return impl_->writer.sent(); }

schedule::ClassSet Session::waiting() const {
  const schedule::ClassSet waiting = impl_->streams->sending().has_bytes(schedule::kEveryClass);
  // The relay asks each of many sessions before every packet, and most have nothing.
  if (waiting == 0 || !impl_->data_allowed()) return 0;
  const Protection& protection = impl_->connection.protection();
  return protection.is_worn_out(impl_->association->ledger.next()) ? 0 : waiting;
}

bool Session::may_send(Instant now) const { return impl_->path().gate.open(now); }

bool Session::may_send_but_for_carrier(Instant now) const {
  return impl_->path().gate.open_but_for_carrier(now);
}

bool Session::shut_by_share(Instant now) const { return impl_->path().gate.shut_by_share(now); }

std::size_t Session::waiting_hosts(schedule::ClassId stream_class) const {
  return std::max<std::size_t>(impl_->streams->sending().schedule().hosts(stream_class), 1);
}

std::optional<Event> Session::poll_event() {
  if (std::optional<Event> event = impl_->peer_events.pop()) return event;
  return impl_->streams->poll_event();
}

Instant Session::next_timeout() const { return impl_->next_timeout(); }

PeerState Session::peer_state() const { return impl_->connection.state(); }

std::uint64_t Session::peer_epoch() const { return impl_->connection.peer().epoch; }

Capabilities Session::agreed() const {
  return impl_->connection.connected() ? impl_->connection.agreed() : Capabilities();
}

bool Session::doubts_peer() const {
  return impl_->association->doubts_peer && impl_->connection.is_alive();
}

bool Session::doubts_key(Instant now) const { return impl_->connection.doubts_key(now); }

BitRate Session::peer_capacity() const { return impl_->association->peer_capacity.capacity(); }

control::Priority Session::last_priority() const { return impl_->path().gate.last_priority(); }

Session::FirstCredit Session::first_credit() const {
  const HelloFrame& peer = impl_->connection.peer();
  return {.lane = peer.lane_credit, .stream = peer.stream_credit};
}

bool Session::has_events() const {
  return !impl_->peer_events.empty() || !impl_->streams->events().empty();
}

bool Session::work_waits() const { return impl_->work_waits(); }

bool Session::repairs_wait() const { return impl_->repairs_wait(); }

void Session::work_off_repairs(Instant now) {
  impl_->begin_call(now);
  impl_->receiver.work_off_repairs();
}

std::uint64_t Session::visited() const { return impl_->work.total(); }

Counters Session::counters() const {
  Counters counters = impl_->counters;
  impl_->connection.write_counts(counters);
  if (impl_->fec != nullptr) {
    const FecReceiver::Counters received = impl_->fec->received();
    counters.repair_used = received.used;
    counters.repair_wasted = received.wasted;
    counters.repair_dropped = impl_->fec->dropped;
    counters.repair_starved = impl_->fec->sender.starved();
    counters.repair_overload = received.overload;
  }
  const StreamWriter::Totals& sent = impl_->writer.totals();
  counters.stream_bytes_out = sent.new_bytes;
  counters.retransmitted_bytes = sent.retransmitted_bytes;
  counters.copies_out = sent.copies;
  using enum control::CutCause;
  const RateCuts& cuts = impl_->path().gate.cuts();
  counters.rate_cuts_delay = cuts.count(kDelay);
  counters.rate_cuts_loss = cuts.count(kLoss);
  counters.rate_cuts_controller = cuts.count(kController);
  counters.rate_cuts_announced = cuts.count(kAnnounced);
  counters.rate_cuts_commanded = cuts.count(kCommanded);
  counters.rate_cuts_configured = cuts.count(kConfigured);
  return counters;
}

std::optional<std::string> Session::audit() const { return impl_->streams->audit(); }

BlocksHeld Session::blocks_held() const {
  BlocksHeld held;
  impl_->streams->set().add_held(held);
  impl_->retired_streams.add_held(held);
  return held;
}

}  // namespace satrelay::stp
