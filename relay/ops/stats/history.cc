#include "relay/ops/stats/history.h"

#include <algorithm>

#include "relay/gateway/uplink/class_counters.h"

namespace satrelay::ops {
namespace {

float per_second(std::uint64_t before, std::uint64_t now, double seconds) {
  if (now < before) return HistoryPoint::kUnknown;
  return static_cast<float>(static_cast<double>(now - before) / seconds);
}

// Returns the increment of the part divided by the increment of the whole, or kUnknown if the whole
// did not grow.
float ratio(std::uint64_t part_before, std::uint64_t part, std::uint64_t whole_before,
            std::uint64_t whole) {
  if (whole <= whole_before || part < part_before) return HistoryPoint::kUnknown;
  return static_cast<float>(static_cast<double>(part - part_before) /
                            static_cast<double>(whole - whole_before));
}

std::optional<Duration> longer(std::optional<Duration> a, std::optional<Duration> b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

}  // namespace

History::All History::figures_of(const Snapshot& snapshot,
                                 const std::vector<gateway::ClassSnapshot>& classes) {
  All all;
  Figures& whole = all[{HistoryOf::kGateway, ""}];
  whole.counts_received = true;
  for (const PortSnapshot& port : snapshot.ports) {
    if (port.name != "wan") continue;
    whole.sent = port.stats.tx_bytes;
    whole.received = port.stats.rx_bytes;
  }
  whole.plain = snapshot.status.codec.plain_bytes;
  whole.encoded = snapshot.status.codec.encoded_bytes;
  for (const gateway::PeerSnapshot& peer : snapshot.peers) {
    const bool is_alive = peer.state == stp::PeerState::kAlive;
    for (Figures* sum :
         {&whole, &all[{HistoryOf::kLink, peer.link}], &all[{HistoryOf::kPeer, peer.name}]}) {
      sum->packets_out += peer.counters.packets_out;
      sum->packets_lost += peer.counters.packets_lost;
      if (is_alive) sum->rtt = longer(sum->rtt, peer.rtt);
      if (sum == &whole) continue;
      sum->counts_received = true;
      sum->sent += peer.counters.bytes_out;
      sum->received += peer.counters.bytes_in;
    }
  }
  for (const gateway::ClassSnapshot& each : classes) {
    Figures& own = all[{HistoryOf::kClass, each.in_force.name}];
    own.sent = each.use.relayed_bytes + each.use.bridged_bytes;
    own.plain = each.use.plain_bytes;
    own.encoded = each.use.encoded_bytes;
    own.queued = each.held_bytes + each.waiting_bytes;
    whole.queued = whole.queued.value_or(0) + *own.queued;
  }
  for (const gateway::HistogramSnapshot& each : snapshot.histograms) {
    if (each.field != &gateway::kRelayedWait && each.field != &gateway::kBridgedWait) continue;
    const auto own = all.find({HistoryOf::kClass, each.of});
    for (Figures* sum : {&whole, own == all.end() ? nullptr : &own->second}) {
      if (sum == nullptr) continue;
      sum->waits += each.values.count();
      sum->waited_us += each.values.sum();
    }
  }
  return all;
}

HistoryPoint History::point_of(const Figures& now) {
  HistoryPoint point;
  if (now.rtt) point.rtt_seconds = static_cast<float>(now.rtt->to_seconds());
  if (now.queued) point.queued_bytes = static_cast<float>(*now.queued);
  return point;
}

HistoryPoint History::point_of(const Figures& before, const Figures& now, double seconds) {
  HistoryPoint point = point_of(now);
  point.send_bps = 8 * per_second(before.sent, now.sent, seconds);
  if (now.counts_received)
    point.receive_bps = 8 * per_second(before.received, now.received, seconds);
  point.loss_ratio =
      ratio(before.packets_lost, now.packets_lost, before.packets_out, now.packets_out);
  point.wait_seconds = ratio(before.waited_us, now.waited_us, before.waits, now.waits) / 1e6F;
  point.encoded_ratio = ratio(before.encoded, now.encoded, before.plain, now.plain);
  return point;
}

void History::add(const Snapshot& snapshot, const std::vector<gateway::ClassSnapshot>& classes,
                  Instant now, std::uint64_t time_ms) {
  const All all = figures_of(snapshot, classes);
  const std::lock_guard lock(mutex_);
  const double seconds = (now - last_).to_seconds();
  const std::size_t slot = times_ % kPoints;
  for (auto& [name, series] : series_) series.points[slot] = {.time_ms = time_ms};
  for (const auto& [name, figures] : all) {
    auto found = series_.find(name);
    if (found == series_.end()) {
      if (series_.size() >= kMostSeries) continue;
      found = series_.emplace(name, Series{}).first;
    }
    const bool was_there = found->second.seen > 0 && found->second.seen == times_;
    HistoryPoint& point = found->second.points[slot];
    point = was_there ? point_of(found->second.before, figures, seconds) : point_of(figures);
    point.time_ms = time_ms;
    found->second.before = figures;
    found->second.seen = times_ + 1;
  }
  ++times_;
  last_ = now;
  std::erase_if(series_, [&](const auto& each) { return times_ - each.second.seen >= kPoints; });
}

std::vector<HistoryPoint> History::points(HistoryOf of, std::string_view name, std::size_t first,
                                          std::size_t count) const {
  std::vector<HistoryPoint> found;
  const std::lock_guard lock(mutex_);
  const auto series = series_.find({of, std::string(name)});
  if (series == series_.end()) return found;
  for (std::size_t i = first; i < std::min<std::uint64_t>(times_, kPoints) && found.size() < count;
       ++i) {
    const HistoryPoint& point = series->second.points[(times_ - 1 - i) % kPoints];
    if (point.time_ms == 0) break;  // the series has no earlier points
    found.push_back(point);
  }
  return found;
}

}  // namespace satrelay::ops
