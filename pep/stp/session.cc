#include "pep/stp/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

Connection::Config connection_config(const Config& config) {
  const std::uint32_t repair = config.repair.mode == FecMode::kAuto ? kCapabilityRepair : 0;
  return {.handshake = {.epoch = config.boot_epoch,
                        .opens_even_streams = config.opens_even_streams,
                        .lane_count = config.lane_count,
                        .datagram_size = config.datagram.size,
                        .interval = config.hello.interval,
                        .capabilities = config.relay_capabilities | repair | kCapabilityReception,
                        .encrypts = config.security.has_value()},
          .lane = config.lane,
          .security = config.security,
          .hello_budget = config.hello.shared,
          .budget_peer = config.hello.peer,
          .octets = config.hello.budgets,
          .suspect_after = config.probes.suspect_after};
}

Path::Config path_config(const Config& config) {
  return {.mtu = {.base = config.datagram.base,
                  .floor = config.datagram.floor,
                  .maximum = config.datagram.size,
                  .known = config.datagram.path_mtu_known},
          .probes = config.probes,
          .feedback = config.feedback,
          .initial_rtt = config.initial_rtt};
}

const Config& checked(const Config& config) {
  if (config.boot_epoch == 0) throw std::invalid_argument("stp: boot_epoch must not be 0");
  if (config.datagram.size < kMinDatagram) {
    throw std::invalid_argument("stp: datagram_size must be at least 512");
  }
  if (config.feedback.minimum > config.feedback.maximum) {
    throw std::invalid_argument("stp: feedback_minimum exceeds feedback_maximum");
  }
  if (config.lane >= Turns::kLanes) throw std::invalid_argument("stp: no such lane");
  if (config.security && config.security->entropy == nullptr) {
    throw std::invalid_argument("stp: security needs a source of entropy");
  }
  return config;
}

}  // namespace

Session::Impl::Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
                    control::RateController& rate_controller, StreamSource& source, Instant start)
    : config(checked(settings)),
      arena(blocks),
      now(start),
      connection(connection_config(settings), counters, start),
      writer(source, work),
      own_ids(settings.opens_even_streams) {
  if (config.repair.mode == FecMode::kAuto) {
    SharedRepairs* const shared =
        config.repair.shared != nullptr ? config.repair.shared : &own_repairs.shared();
    fec = std::make_unique<Fec>(config.datagram.size, shared);
  }
  config.security.reset();  // a secret is kept once, and erased when another replaces it
  renew_promise();
  begin_with(SentLedger(config.max_packets_in_flight),
             RateGate(carrier, rate_controller, settings.datagram.overhead));
}

// Forgets everything that was agreed with the peer.
void Session::Impl::begin_anew() {
  streams->leave_to(retired_streams);
  const bool had_capacity = !association->peer_capacity.capacity().is_zero();
  // The debt of the gate's pacer and the counts of cuts go on.
  RateGate gate = path().gate;
  gate.clear();
  begin_with(std::move(association->ledger).renewed(), gate);
  if (had_capacity) peer_events.push(Event::Kind::kCapacity);
}

void Session::Impl::begin_with(SentLedger unused, const RateGate& gate) {
  if (fec != nullptr) fec->clear();
  association.emplace(std::move(unused), Path(kFirstPath, path_config(config), gate, now));
  streams.emplace(config.streams, Streams::Pace{config.feedback.minimum, 2U * config.datagram.size},
                  arena, work, connection.promised());
}

// Sets the lane credit that HELLO promises from now on.
void Session::Impl::renew_promise() {
  connection.promise(
      std::min(config.streams.lane_receive_limit, ReceiveCredit::free_memory(arena)));
}

void Session::Impl::follow(const Connection::Heard& news) {
  switch (news.change) {
    case Connection::Change::kNothing:
      break;
    case Connection::Change::kHeard:
      heard();
      break;
    case Connection::Change::kNewcomer:
      renew_promise();
      // A peer that is there answers the PING soon. Only the first of several newcomers in a row
      // causes this. Otherwise a flood of such HELLOs would keep all new streams waiting.
      if (!connection.is_alive()) break;
      association->doubts_peer = true;
      path().requests.ask();
      break;
    case Connection::Change::kBegun:
      begin_session(news.has_restarted);
      if (news.wants_proof) path().requests.ask();
      break;
  }
  if (news.rtt > Duration::zero()) {
    path().rtt.on_sample(news.rtt);
    path().update_rtt();
  }
}

// A session with this boot of the peer begins, and any other session is over.
void Session::Impl::begin_session(bool has_restarted) {
  begin_anew();
  if (has_restarted) peer_events.push(Event::Kind::kPeerRestarted);
  streams->sending().schedule().pause(false);
  const HelloFrame& peer = connection.peer();
  streams->start(peer.lane_credit, peer.stream_credit, now);
  own_capacity.on_new_session();
  path().mtu.start(
      static_cast<std::uint16_t>(std::max<std::size_t>(peer.datagram_size, kMinDatagram)));
  path().probes.start(now);
  peer_events.push(Event::Kind::kPeerAlive);
}

void Session::Impl::heard() {
  if (path().probes.is_return(now)) {
    path().note_outage(association->ledger, now);
    path().probes.on_return(now);
  }
  path().probes.on_heard(now);
  const bool was_doubted = std::exchange(association->doubts_peer, false);
  const bool was_suspect = connection.on_heard(now);
  if (was_suspect) streams->sending().schedule().pause(false);
  if (was_suspect || was_doubted) peer_events.push(Event::Kind::kPeerAlive);
}

void Session::Impl::close_by_peer() {
  if (!connection.connected()) return;
  begin_anew();
  connection.close_by_peer();
  if (!connection.has_newcomer()) renew_promise();
  peer_events.push(Event::Kind::kPeerClosed);
}

void Session::Impl::close() {
  if (connection.has_closed()) return;
  connection.close(association->ledger.next());
  begin_anew();
}

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
  impl_->reception = reception;
  impl_->handle_packet(datagram);
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
  impl_->work_off_repairs();
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
