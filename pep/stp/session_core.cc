#include "pep/stp/session_core.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

SessionCore::SessionCore(const Config& settings, Arena& blocks, control::Pacer& carrier,
                         control::RateController& controller, Instant start)
    : config(checked(settings)),
      arena(blocks),
      now(start),
      connection(connection_config(settings), counters, start),
      own_ids(settings.opens_even_streams) {
  if (config.repair.mode == FecMode::kAuto) {
    SharedRepairs* const shared =
        config.repair.shared != nullptr ? config.repair.shared : &own_repairs.shared();
    fec = std::make_unique<Fec>(config.datagram.size, shared);
  }
  config.security.reset();  // keep secrets only in `connection`, which erases replaced secrets
  renew_promise();
  begin_with(SentLedger(config.max_packets_in_flight),
             RateGate(carrier, controller, settings.datagram.overhead));
}

// Ends the association and its streams, and begins an empty association. Keys and handshake stay.
void SessionCore::begin_anew() {
  streams->leave_to(retired_streams);
  const bool had_capacity = !association->peer_capacity.capacity().is_zero();
  // The new gate is a copy, so that it keeps the deficit of the pacer and the counts of rate cuts.
  RateGate gate = path().gate;
  gate.clear();
  begin_with(std::move(association->ledger).renewed(), gate);
  if (had_capacity) peer_events.push(Event::Kind::kCapacity);
}

void SessionCore::begin_with(SentLedger unused, const RateGate& gate) {
  if (fec != nullptr) fec->clear();
  association.emplace(std::move(unused), Path(kFirstPath, path_config(config), gate, now));
  streams.emplace(config.streams, Streams::Pace{config.feedback.minimum, 2U * config.datagram.size},
                  arena, work, connection.promised());
}

// Sets the lane credit that our HELLOs grant from now on: the configured limit, but not more than
// the free memory.
void SessionCore::renew_promise() {
  connection.promise(
      std::min(config.streams.lane_receive_limit, ReceiveCredit::free_memory(arena)));
}

void SessionCore::follow(const Connection::Heard& news) {
  switch (news.change) {
    case Connection::Change::kNothing:
      break;
    case Connection::Change::kHeard:
      heard();
      break;
    case Connection::Change::kNewcomer:
      renew_promise();
      // The peer may have restarted, so ask it for a report (PING). Until it answers, new streams
      // wait. This is done only if there was no newcomer before. Otherwise a flood of HELLOs would
      // delay all new streams.
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

// Begins a session with this boot of the peer. Any other session ends.
void SessionCore::begin_session(bool has_restarted) {
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

void SessionCore::heard() {
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

void SessionCore::close_by_peer() {
  if (!connection.connected()) return;
  begin_anew();
  connection.close_by_peer();
  if (!connection.has_newcomer()) renew_promise();
  peer_events.push(Event::Kind::kPeerClosed);
}

void SessionCore::close() {
  if (connection.has_closed()) return;
  connection.close(association->ledger.next());
  begin_anew();
}

// The largest datagram that the path is known to carry, and that both ends accept. HELLOs and OPENs
// always fit into it.
std::size_t SessionCore::datagram_limit() const {
  return connection.connected() ? path().mtu.limit()
                                : std::min(config.datagram.base, config.datagram.size);
}

}  // namespace satrelay::stp
