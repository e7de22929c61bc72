#include "relay/gateway/snapshot_sum.h"

#include <algorithm>
#include <utility>

#include "pep/base/counter_fields.h"

namespace satrelay::gateway {
namespace {

// A worse state has a higher number.
int badness(stp::PeerState state) {
  switch (state) {
    case stp::PeerState::kAlive:
      return 0;
    case stp::PeerState::kSuspect:
      return 1;
    case stp::PeerState::kConnecting:
      return 2;
    case stp::PeerState::kClosed:
      return 3;
    case stp::PeerState::kRefused:
      break;
  }
  return 4;
}

template <typename Value, typename Choose>
void combine(std::optional<Value>& sum, const std::optional<Value>& more, Choose choose) {
  if (!more) return;
  sum = sum ? choose(*sum, *more) : *more;
}

void add_lane(PeerSnapshot& sum, const PeerSnapshot& lane) {
  sum.resolved = sum.resolved && lane.resolved;
  if (badness(lane.state) > badness(sum.state)) sum.state = lane.state;
  sum.is_given_up = sum.is_given_up || lane.is_given_up;
  sum.wrong_key = sum.wrong_key || lane.wrong_key;
  sum.admission = std::max(sum.admission, lane.admission);
  sum.encrypts = sum.encrypts && lane.encrypts;
  // Each lane may use the whole rate of the peer. The workers divide it among themselves at run
  // time.
  sum.send_rate = std::max(sum.send_rate, lane.send_rate);
  sum.streams += lane.streams;
  sum.packets_in_flight += lane.packets_in_flight;
  sum.bytes_stored += lane.bytes_stored;
  sum.flows += lane.flows;
  sum.flows_refused += lane.flows_refused;
  sum.arena_used += lane.arena_used;
  sum.dictionaries = std::min(sum.dictionaries, lane.dictionaries);
  sum.are_sources_known = sum.are_sources_known && lane.are_sources_known;
  combine(sum.last_cut, lane.last_cut, [](const auto& a, const auto&) { return a; });
  combine(sum.path_mtu, lane.path_mtu, [](auto a, auto b) { return std::min(a, b); });
  combine(sum.rtt, lane.rtt, [](auto a, auto b) { return std::max(a, b); });
  combine(sum.loss_ratio, lane.loss_ratio, [](auto a, auto b) { return std::max(a, b); });
  satrelay::add_to(sum.counters, lane.counters);
}

}  // namespace

void add_to(Status& sum, const Status& more) {
  sum.admission = std::max(sum.admission, more.admission);
  sum.flows += more.flows;
  sum.half_open += more.half_open;
  sum.time_wait += more.time_wait;
  sum.arena_bytes += more.arena_bytes;
  sum.arena_used += more.arena_used;
  satrelay::add_to(sum.codec, more.codec);
  satrelay::add_to(sum.tcp, more.tcp);
}

void add_to(std::vector<PeerSnapshot>& sum, const std::vector<PeerSnapshot>& more) {
  // The lanes of a peer are consecutive, and both listings are in the same order.
  std::size_t at = 0;
  for (const PeerSnapshot& lane : more) {
    while (at < sum.size() && sum[at].name != lane.name) ++at;
    if (at == sum.size()) {
      sum.push_back(lane);
    } else {
      add_lane(sum[at], lane);
    }
  }
}

void append_lanes(std::vector<PeerSnapshot>& peers, std::vector<PeerSnapshot> lanes) {
  for (PeerSnapshot& lane : lanes) {
    if (!peers.empty() && peers.back().name == lane.name) {
      add_lane(peers.back(), lane);
    } else {
      peers.push_back(std::move(lane));
    }
  }
}

void add_to(std::vector<LinkSnapshot>& sum, const std::vector<LinkSnapshot>& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) {
    // One lane may already know a new capacity, announced or found, that the other lanes do not
    // know yet.
    sum[i].send.capacity = std::max(sum[i].send.capacity, more[i].send.capacity);
    sum[i].sent_bytes += more[i].sent_bytes;
  }
}

void add_to(std::vector<RuleSnapshot>& sum, const std::vector<RuleSnapshot>& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) {
    satrelay::add_to(sum[i].use, more[i].use);
  }
}

void add_to(std::vector<HistogramSnapshot>& sum, const std::vector<HistogramSnapshot>& more) {
  // A worker that has not applied a reload yet has other classes.
  for (const HistogramSnapshot& one : more) {
    const auto same = std::ranges::find_if(sum, [&](const HistogramSnapshot& each) {
      return each.field == one.field && each.of == one.of;
    });
    if (same != sum.end()) {
      same->values += one.values;
    } else {
      sum.push_back(one);
    }
  }
}

void add_to(std::vector<ClassSnapshot>& sum, const std::vector<ClassSnapshot>& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) {
    sum[i].held_frames += more[i].held_frames;
    sum[i].held_bytes += more[i].held_bytes;
    sum[i].waiting_bytes += more[i].waiting_bytes;
    sum[i].hosts += more[i].hosts;
    satrelay::add_to(sum[i].use, more[i].use);
  }
}

}  // namespace satrelay::gateway
