#include "relay/satrelayd/workers/engines.h"

#include <algorithm>
#include <iterator>

#include "relay/gateway/snapshot_sum.h"

namespace satrelay::satrelayd {

using gateway::Gateway;

template <typename Say>
auto Engines::to_all(Say say) {
  const auto answer = say(*engines_[0]);
  for (std::size_t i = 1; i < engines_.size(); ++i) static_cast<void>(say(*engines_[i]));
  return answer;
}

gateway::CapacityResult Engines::set_capacity(std::string_view link, gateway::LinkWay way,
                                              BitRate capacity, Instant now) {
  return to_all(
      [&](Gateway& engine) { return engine.rates().set_capacity(link, way, capacity, now); });
}

bool Engines::set_peer_rate(std::string_view peer, BitRate most, Instant now) {
  return to_all([&](Gateway& engine) { return engine.rates().set_peer_rate(peer, most, now); });
}

gateway::ClassResult Engines::set_class(std::string_view name, const gateway::ClassChange& change,
                                        Instant now) {
  return to_all([&](Gateway& engine) { return engine.set_class(name, change, now); });
}

Gateway::SetResult Engines::set_rule(std::string_view rule, const gateway::RuleChange& change) {
  return to_all([&](Gateway& engine) { return engine.set_rule(rule, change); });
}

void Engines::reconfigure(const config::Gateway& next, Instant now,
                          const gateway::Prepared& prepared) {
  for (Gateway* engine : engines_) engine->reconfigure(next, now, prepared);
}

void Engines::set_admission(gateway::Admission admission, Instant now) {
  for (Gateway* engine : engines_) engine->set_admission(admission, now);
}

void Engines::shut_down(Instant now) {
  for (Gateway* engine : engines_) engine->shut_down(now);
}

bool Engines::has_final_segments() const {
  return std::ranges::any_of(engines_,
                             [](const Gateway* engine) { return engine->has_final_segments(); });
}

std::size_t Engines::unfinished_flows() const {
  std::size_t count = 0;
  for (const Gateway* engine : engines_) count += engine->unfinished_flows();
  return count;
}

Duration Engines::longest_round_trip() const {
  Duration longest;
  for (const Gateway* engine : engines_) {
    for (const gateway::PeerSnapshot& peer : engine->peers()) {
      longest = std::max(longest, peer.rtt.value_or(Duration::zero()));
    }
  }
  return longest;
}

std::vector<gateway::FlowSnapshot> Engines::flows(std::size_t first, std::size_t count,
                                                  Instant now) const {
  std::vector<gateway::FlowSnapshot> all;
  for (std::size_t i = 0; i < engines_.size() && all.size() < count; ++i) {
    const std::size_t has = engines_[i]->flow_count();
    if (first >= has) {
      first -= has;
      continue;
    }
    for (gateway::FlowSnapshot& flow : engines_[i]->flows(first, count - all.size(), now)) {
      flow.id = flow.id * engines_.size() + i;
      all.push_back(std::move(flow));
    }
    first = 0;
  }
  return all;
}

std::optional<gateway::FlowSnapshot> Engines::flow(std::uint64_t id, Instant now) const {
  auto found = engines_[id % engines_.size()]->flow(id / engines_.size(), now);
  if (found) found->id = id;
  return found;
}

std::vector<gateway::RuleSnapshot> Engines::rules(std::size_t first, std::size_t count) const {
  auto sum = engines_[0]->rules(first, count);
  for (std::size_t i = 1; i < engines_.size(); ++i) {
    gateway::add_to(sum, engines_[i]->rules(first, count));
  }
  return sum;
}

std::vector<gateway::ClassSnapshot> Engines::classes() const {
  auto sum = engines_[0]->classes();
  for (std::size_t i = 1; i < engines_.size(); ++i) gateway::add_to(sum, engines_[i]->classes());
  return sum;
}

std::vector<gateway::BridgedSnapshot> Engines::bridged(Instant now) const {
  std::vector<gateway::BridgedSnapshot> all;
  for (const Gateway* engine : engines_)
    std::ranges::move(engine->bridged(now), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &gateway::BridgedSnapshot::age);
  if (all.size() > Gateway::kMostBridged) all.resize(Gateway::kMostBridged);
  return all;
}

gateway::Explanation Engines::explain(const gateway::PolicyKey& asked, Instant now) const {
  return engines_[0]->explain(asked, now);
}

}  // namespace satrelay::satrelayd
