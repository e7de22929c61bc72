#include "relay/ops/events/watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace satrelay::ops {
namespace {

using gateway::Counter;
using stp::PeerState;

// A counter, and the event that reports its growth.
struct Watched {
  Counter counter;
  EventKind kind;
};
constexpr std::array kWatched = {
    Watched{Counter::kBridgedTableFull, EventKind::kTableFull},
    Watched{Counter::kBridgedPeerPart, EventKind::kTableFull},
    Watched{Counter::kBridgedHostPart, EventKind::kTableFull},
    Watched{Counter::kAddressConflicts, EventKind::kAddressConflict},
    Watched{Counter::kStationsOnBothSides, EventKind::kStationOnBothSides},
    Watched{Counter::kFlowsOtherVlan, EventKind::kAnswersInOtherVlan},
    Watched{Counter::kServicesRefusing, EventKind::kServiceRefuses},
    Watched{Counter::kFamiliesSilent, EventKind::kFamilySilent},
    Watched{Counter::kDroppedForgedGateway, EventKind::kGatewayForged},
    Watched{Counter::kBridgedForeignSource, EventKind::kSourceForged},
    Watched{Counter::kFlowsRefusedForeign, EventKind::kPeerOverreaches},
    Watched{Counter::kBridgedUnacceptedSource, EventKind::kSourceUnaccepted},
    Watched{Counter::kSynsOfNoPeer, EventKind::kClientOfNoPeer},
    Watched{Counter::kAddressesBetween, EventKind::kAddressBetween},
};

// Formats a value with one decimal, such as "12.3". `value` must not be negative.
std::string tenths(double value) {
  const auto all = static_cast<std::uint64_t>(std::llround(value * 10));
  return std::to_string(all / 10) + '.' + std::to_string(all % 10);
}

std::string seconds(Duration duration) { return tenths(duration.to_seconds()) + " s"; }

std::string rate(BitRate rate) {
  const auto bits = static_cast<double>(rate.to_bits_per_second());
  if (bits >= 1e9) return tenths(bits / 1e9) + " Gbit/s";
  if (bits >= 1e6) return tenths(bits / 1e6) + " Mbit/s";
  return tenths(bits / 1e3) + " kbit/s";
}

// Formats a number with a noun, such as "1 frame" or "2 frames".
std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

// Returns a text that says what limits the send rate to the peer.
std::string cause_of(const gateway::PeerSnapshot& peer) {
  const auto limits = [&](BitRate limit) {
    return !limit.is_zero() && limit <= peer.send_rate.scaled(102, 100);
  };
  if (limits(peer.announced)) return "the far gateway announced a lower capacity";
  if (limits(peer.commanded)) return "commanded here";
  return "rate control found a lower rate";
}

const char* text_of(control::CutCause cause) {
  switch (cause) {
    case control::CutCause::kDelay:
      return "a queue grew on the path";
    case control::CutCause::kLoss:
      return "too many packets were lost";
    case control::CutCause::kController:
      return "decided by rate control";
    case control::CutCause::kAnnounced:
      return "the far gateway announced a lower capacity";
    case control::CutCause::kCommanded:
      return "commanded here";
    case control::CutCause::kConfigured:
      return "the configuration changed";
  }
  return "";
}

std::uint64_t all_cuts(const stp::Counters& c) {
  return c.rate_cuts_delay + c.rate_cuts_loss + c.rate_cuts_controller + c.rate_cuts_announced +
         c.rate_cuts_commanded + c.rate_cuts_configured;
}

}  // namespace

std::optional<std::uint64_t> Growth::look(std::uint64_t value, Instant now) {
  if (value <= told_ || now < next_) return std::nullopt;
  next_ = now + kInterval;
  return take(value);
}

void Watch::look(const Snapshot& snapshot, const records::RecordsReport& records, Duration age,
                 Instant now) {
  const bool stuck = age > kWorkerStuckAfter;
  if (stuck != worker_stuck_) {
    worker_stuck_ = stuck;
    const EventKind kind = stuck ? EventKind::kWorkerStuck : EventKind::kWorkerReturned;
    tell_({kind, "gateway", stuck ? seconds(age) : ""});
  }
  if (!began_) began_ = now;
  peers_.resize(snapshot.peers.size(), Peer{.since = now});
  ports_.resize(snapshot.ports.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) look_at(snapshot.peers[i], peers_[i], now);
  for (std::size_t i = 0; i < ports_.size(); ++i) look_at(snapshot.ports[i], ports_[i], now);
  look_at_memory(snapshot, now);
  look_at_counters(snapshot.counters, now);
  look_at_flood(snapshot.counters, now);
  look_at_overload(snapshot, now);
  look_at(records, snapshot, now);
}

void Watch::look_at(const gateway::PeerSnapshot& now_is, Peer& before, Instant now) {
  look_at_state(now_is, before, now);
  look_at_cuts(now_is, before, now);
  look_at_rate(now_is, before, now);
  look_at_capacity(now_is, before, now);
  const stp::Counters& counters = now_is.counters;
  if (before.keys.look(counters.keys_out + counters.keys_in, now)) {
    tell_({EventKind::kKeyChanged, "peer " + now_is.name,
           "keys so far: " + std::to_string(counters.keys_out) + " of ours, " +
               std::to_string(counters.keys_in) + " of the peer's"});
  }
}

void Watch::look_at_state(const gateway::PeerSnapshot& now_is, Peer& before, Instant now) {
  const auto tell = [&](EventKind kind, std::string detail = "") {
    tell_({kind, "peer " + now_is.name, std::move(detail)});
  };
  const bool restarted = now_is.counters.peer_restarts != before.restarts;
  if (restarted) tell(EventKind::kPeerRestarted);
  if (now_is.state != before.state || restarted) {
    switch (now_is.state) {
      case PeerState::kAlive:
        if (before.state == PeerState::kSuspect && !restarted) {
          tell(EventKind::kPeerReturned, "after " + seconds(now - before.since));
        } else {
          tell(EventKind::kPeerAlive);
        }
        break;
      case PeerState::kSuspect:
        tell(EventKind::kPeerSilent);
        break;
      case PeerState::kClosed:
        tell(EventKind::kPeerClosed);
        break;
      case PeerState::kRefused:
        tell(why_refused(now_is.counters, before));
        break;
      case PeerState::kConnecting:
        break;
    }
    if (now_is.state != before.state) before.since = now;
  }
  if (now_is.is_given_up && !before.given_up) tell(EventKind::kPeerLost);
  if (now_is.wrong_key && !before.wrong_key) tell(EventKind::kPeerWrongKey);
  const bool unheard = now_is.state == PeerState::kConnecting && now >= *began_ + kUnheardAfter;
  if (unheard && !before.unheard_told && before.restarts == 0 && !now_is.wrong_key) {
    tell(EventKind::kPeerUnheard, now_is.resolved ? "" : "its next hop does not answer");
  }
  before.unheard_told |= unheard || now_is.state != PeerState::kConnecting;
  before.state = now_is.state;
  before.restarts = now_is.counters.peer_restarts;
  before.security_mismatches = now_is.counters.security_mismatch;
  before.lanes_mismatches = now_is.counters.lanes_mismatch;
  before.wrong_key = now_is.wrong_key;
  before.given_up = now_is.is_given_up;
}

EventKind Watch::why_refused(const stp::Counters& now_is, const Peer& before) {
  if (now_is.security_mismatch != before.security_mismatches) {
    return EventKind::kPeerUnlikeSecurity;
  }
  return now_is.lanes_mismatch != before.lanes_mismatches ? EventKind::kPeerUnlikeWorkers
                                                          : EventKind::kPeerOtherVersion;
}

void Watch::look_at_cuts(const gateway::PeerSnapshot& now_is, Peer& before, Instant now) {
  const std::uint64_t cuts = all_cuts(now_is.counters);
  if (cuts == before.cuts || now < before.next_lowered || !now_is.last_cut) return;
  const std::uint64_t more = cuts - std::exchange(before.cuts, cuts) - 1;
  before.next_lowered = now + kLoweredInterval;
  const stp::RateCut& cut = *now_is.last_cut;
  std::string detail = rate(cut.from) + " to " + rate(cut.to) + ", " + text_of(cut.cause);
  if (more > 0) detail += "; " + counted(more, "more cut") + " since the last report";
  tell_({EventKind::kRateLowered, "peer " + now_is.name, std::move(detail)});
}

// A controller may begin with a low rate, and the rate may dip for a moment. So a rate counts as
// cut only if it was full before, and then stays low for kCutAfter.
void Watch::look_at_rate(const gateway::PeerSnapshot& now_is, Peer& before, Instant now) {
  if (now_is.state != PeerState::kAlive) {
    before.low_since = Instant::never();
    if (now_is.state == PeerState::kSuspect) return;
    // Report the end of the cut now, since the next session begins with a new controller.
    if (before.rate_cut) {
      tell_({EventKind::kRateRestored, "peer " + now_is.name, "its session has ended"});
    }
    before.was_full = before.rate_cut = false;
    return;
  }
  const bool low = now_is.send_rate < now_is.link_rate.scaled(before.rate_cut ? 95 : 90, 100);
  if (!low) {
    if (before.rate_cut) {
      tell_({EventKind::kRateRestored, "peer " + now_is.name, rate(now_is.send_rate)});
    }
    before.rate_cut = false;
    before.was_full = true;
    before.low_since = Instant::never();
    return;
  }
  before.low_since = std::min(before.low_since, now);
  if (before.rate_cut || !before.was_full || now < before.low_since + kCutAfter) return;
  before.rate_cut = true;
  tell_({EventKind::kRateCut, "peer " + now_is.name,
         rate(now_is.send_rate) + " of " + rate(now_is.link_rate) + ", " + cause_of(now_is)});
}

void Watch::look_at_capacity(const gateway::PeerSnapshot& now_is, Peer& before, Instant now) {
  const auto tell = [&](EventKind kind, const SteadyRate::Change& change) {
    std::string detail = rate(change.after);
    if (!change.before.is_zero()) detail += ", " + rate(change.before) + " before";
    tell_({kind, "peer " + now_is.name, std::move(detail)});
  };
  if (const auto change = before.announced.look(now_is.announced, now)) {
    tell(EventKind::kCapacityTold, *change);
  }
  if (!now_is.finds_capacity) return;
  if (const auto change = before.found.look(now_is.link_rate, now)) {
    tell(EventKind::kCapacityFound, *change);
  }
}

void Watch::look_at(const PortSnapshot& now_is, Port& before, Instant now) {
  const std::string subject = "port " + now_is.name;
  if (const auto merged = before.merged.look(now_is.stats.rx_merged, now)) {
    tell_({EventKind::kFramesMerged, subject, counted(*merged, "frame")});
  }
  if (const auto missed =
          before.missed.look(now_is.stats.rx_missed + now_is.stats.rx_no_buffer, now)) {
    tell_({EventKind::kFramesMissed, subject, counted(*missed, "frame")});
  }
}

void Watch::look_at_memory(const Snapshot& snapshot, Instant now) {
  const gateway::Status& status = snapshot.status;
  const std::uint64_t ran_out =
      snapshot.counters[Counter::kBridgedMemoryLow] + snapshot.counters[Counter::kDroppedMemoryLow];
  const bool grew = ran_out != std::exchange(out_of_memory_, ran_out);
  const auto reaches = [&](std::uint64_t percent) {
    return status.arena_bytes > 0 && status.arena_used * 100 >= status.arena_bytes * percent;
  };
  if (grew || reaches(90)) memory_short_at_ = now;
  const bool low = memory_low_ ? reaches(75) || now < memory_short_at_ + kMemoryNormalAfter
                               : grew || reaches(90);
  if (low == memory_low_) return;
  memory_low_ = low;
  const std::string used = std::to_string(status.arena_used >> 20) + " of " +
                           std::to_string(status.arena_bytes >> 20) + " MiB used";
  tell_({low ? EventKind::kMemoryLow : EventKind::kMemoryNormal, "gateway", used});
}

void Watch::look_at_counters(const gateway::Counters& counters, Instant now) {
  static_assert(kWatched.size() == kWatchedCounters);
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    const auto grown = counters_[i].look(counters[kWatched[i].counter], now);
    if (grown) tell_({kWatched[i].kind, "gateway", counted(*grown, "time")});
  }
}

void Watch::look_at_flood(const gateway::Counters& counters, Instant now) {
  const auto change =
      flood_.look(counters[Counter::kSynCookiesSent] + counters[Counter::kDroppedSynFlood], now);
  if (change == Episode::Change::kBegun) tell_({EventKind::kSynFlood, "gateway", ""});
  if (change != Episode::Change::kOver) return;
  tell_({EventKind::kSynFloodOver, "gateway",
         counted(flood_.grown(), "SYN") + " in " + seconds(flood_.lasted())});
}

void Watch::look_at_overload(const Snapshot& snapshot, Instant now) {
  std::uint64_t lost = 0;
  for (const PortSnapshot& port : snapshot.ports) {
    lost += port.stats.rx_missed + port.stats.rx_no_buffer;
  }
  for (const WorkerSnapshot& worker : snapshot.workers) lost += worker.counters.given_dropped;
  const auto change = overload_.look(lost, now);
  if (change == Episode::Change::kNone) return;
  tell_(
      {change == Episode::Change::kBegun ? EventKind::kWorkerOverloaded : EventKind::kWorkerKeepsUp,
       "gateway", counted(overload_.grown(), "frame") + " in " + seconds(overload_.lasted())});
}

void Watch::look_at(const records::RecordsReport& now_is, const Snapshot& snapshot, Instant now) {
  look_at({.subject = "records file",
           .is_open = now_is.file_state == "ok",
           .trouble = now_is.file_trouble,
           .lost = now_is.counters.unwritten},
          records_file_, now);
  look_at({.subject = "records collector",
           .is_open = now_is.ipfix_state == "ok",
           .trouble = now_is.collector_trouble,
           .lost = now_is.counters.unexported},
          records_collector_, now);
  std::uint64_t lost = 0;
  for (const WorkerSnapshot& worker : snapshot.workers) lost += worker.counters.records_lost;
  if (const auto grown = records_found_no_room_.look(lost, now)) {
    tell_({EventKind::kRecordsLost, "records writer", counted(*grown, "record")});
  }
}

// While an output fails, lost records cause no separate events. The event at the end of the failure
// reports their number.
void Watch::look_at(const WayNow& now_is, Way& before, Instant now) {
  const bool fails = !now_is.trouble.empty();
  const bool changes = fails != std::exchange(before.fails, fails);
  if (changes && fails) {
    tell_({EventKind::kRecordsFailing, now_is.subject, now_is.trouble});
  } else if (changes) {
    const std::uint64_t lost = before.lost.take(now_is.lost);
    tell_({EventKind::kRecordsResumed, now_is.subject,
           counted(lost, "record") + (lost == 1 ? " was lost" : " were lost")});
  }
  // If the output is not open, it may be about to fail. That failure's event will include these
  // records.
  if (fails || !now_is.is_open) return;
  if (const auto grown = before.lost.look(now_is.lost, now)) {
    tell_({EventKind::kRecordsLost, now_is.subject, counted(*grown, "record")});
  }
}

}  // namespace satrelay::ops
