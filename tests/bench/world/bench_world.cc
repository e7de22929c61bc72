#include "tests/bench/world/bench_world.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/support/gateway_config.h"

namespace satrelay::bench {
namespace {

using gateway::PortId;

constexpr std::size_t kOpensATurn = 2 * kBurst;

std::uint64_t full_frames(const FrameBatch& frames, std::size_t full) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].size() >= full) ++count;
  }
  return count;
}

// Room for a frame with VLAN tags.
std::size_t room_of(const WorldSpec& spec) { return spec.mtu + 100; }

HostAddresses client(const WorldSpec& spec) {
  return {{{0x02, 0, 0, 0, 0, 0x0a}},
          spec.ipv6 ? *IpAddress::parse("2001:db8:a::10") : *IpAddress::parse("10.8.0.10")};
}
HostAddresses server(const WorldSpec& spec) {
  return {{{0x02, 0, 0, 0, 0, 0x0b}},
          spec.ipv6 ? *IpAddress::parse("2001:db8:b::10") : *IpAddress::parse("203.0.113.10")};
}

BulkFlows bulk_flows(const WorldSpec& spec) {
  return {.count = spec.flows,
          .active = spec.active == 0 ? spec.flows : spec.active,
          .of_a_host = spec.flows_of_a_host,
          .mtu = spec.mtu,
          .compressible = spec.compressible};
}

config::Gateway config_of(const WorldSpec& spec, bool sending) {
  config::Peer peer = test::peer_config("far", sending ? "192.0.2.2" : "192.0.2.1",
                                        {sending ? "203.0.113.0/24" : "10.8.0.0/16",
                                         sending ? "2001:db8:b::/48" : "2001:db8:a::/48"});
  if (spec.encrypted) {
    peer.security.keys.emplace();
    peer.security.keys->current.bytes()[0] = std::byte{1};
  }
  config::Gateway config =
      test::gateway_config({.own = sending ? "192.0.2.1" : "192.0.2.2", .rate = spec.rate}, {peer});
  config.lan.interface = "lan";
  config.wan.interface = "wan";
  for (std::size_t i = 0; sending && i < spec.silent_peers; ++i) {
    const auto high = static_cast<std::uint8_t>(i / 256);
    const auto low = static_cast<std::uint8_t>(i % 256);
    config.gateway.next_hop = peer.address;
    config.peers.push_back(test::peer_config("silent-" + std::to_string(i),
                                             IpAddress::v4({10, 9, high, low}),
                                             {IpPrefix{IpAddress::v4({10, high, low, 0}), 24}}));
  }
  for (std::size_t i = 0; i < spec.rules; ++i) {
    config::Rule other;
    const auto high = static_cast<std::uint8_t>(64 + i / 256);
    const auto low = static_cast<std::uint8_t>(i % 256);
    other.match.destination = {IpPrefix{IpAddress::v4({10, high, low, 0}), 24}};
    config.rules.push_back(other);
  }
  config::Rule rule;
  if (!spec.compresses) rule.compress = config::Compress::kOff;
  config.rules.push_back(rule);
  config.lan.mtu = config.wan.mtu = config.stp.mtu = static_cast<std::uint16_t>(spec.mtu);
  config.limits.memory = ByteCount(spec.gateway_memory);
  const std::size_t at_once = spec.at_once == 0 ? spec.flows : spec.at_once;
  // All connections are to one server, which may have half of the table (docs/configuration.md).
  config.limits.flows = static_cast<std::uint32_t>(2 * std::max<std::size_t>(at_once + 16, 64));
  limit_time_waits(config.limits, spec.time_wait);
  config.limits.half_open = config.limits.flows;
  return config;
}

}  // namespace

World::World(const WorldSpec& spec)
    : spec_(spec),
      full_frame_(spec.mtu - 100),
      turn_time_(spec.rate.time_for(ByteCount(kBurst * (spec.mtu + config::kOverheadEthernet)))),
      sender_(client(spec), server(spec), bulk_flows(spec)),
      receiver_(server(spec), client(spec), bulk_flows(spec)),
      sending_(room_of(spec)),
      receiving_(room_of(spec)) {
  make_node(sending_, spec, true);
  make_node(receiving_, spec, false);
  forward_.loss = spec.loss;
}

World::~World() = default;

void World::make_node(Node& node, const WorldSpec& spec, bool sending) {
  node.memory = LargeMemory(spec.gateway_memory, spec.touched);
  gateway::Identity identity;
  identity.boot_epoch = sending ? 1'000 : 2'000;
  identity.secret[0] = 1;
  identity.secret[1] = 2;
  identity.wan_mac = {{0x02, 0, 0, 0, 0xff, static_cast<std::uint8_t>(sending ? 1 : 2)}};
  identity.entropy = &node.entropy;
  if (spec.ports_sum) let_ports_sum(identity);
  node.engine = std::make_unique<gateway::Gateway>(config_of(spec, sending), identity,
                                                   node.memory.bytes(), now_);
}

void World::send_over(DelayLine& line, const FrameBatch& frames, Instant now) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const ConstBytes frame = frames[i];
    if (line.loss > 0 && random_.chance(line.loss)) continue;
    if (line.free.empty()) {
      line.slots.emplace_back(new std::byte[room_of(spec_)]);
      line.sizes.push_back(0);
      line.free.push_back(static_cast<std::uint32_t>(line.slots.size() - 1));
    }
    const std::uint32_t slot = line.free.back();
    line.free.pop_back();
    std::memcpy(line.slots[slot].get(), frame.data(), frame.size());
    line.sizes[slot] = static_cast<std::uint16_t>(frame.size());
    line.queue.push_back({now + spec_.one_way_delay, slot});
  }
}

void World::drop_arrived(DelayLine& line, std::size_t count) {
  for (; count > 0; --count) {
    line.free.push_back(line.queue.front().slot);
    line.queue.pop_front();
  }
}

void World::run_gateway(Node& node, DelayLine& arriving, Instant now) {
  std::size_t arrived = 0;
  while (arrived < arriving.queue.size() && arriving.queue[arrived].due <= now) ++arrived;
  node.lan_out.clear();
  node.wan_out.clear();
  gateway::Gateway& engine = *node.engine;

  node.core.begin();
  node.watch.start();
  show(
      engine, PortId::kLan, node.lan_in.size(), [&](std::size_t i) { return node.lan_in[i]; }, now,
      spec_.ports_sum);
  show(
      engine, PortId::kWan, arrived,
      [&](std::size_t i) {
        const std::uint32_t slot = arriving.queue[i].slot;
        return ConstBytes(arriving.slots[slot].get(), arriving.sizes[slot]);
      },
      now);
  if (engine.next_timeout() <= now) engine.handle_timeout(now);
  ask(engine, PortId::kLan, node.lan_out, now);
  ask(engine, PortId::kWan, node.wan_out, now);
  const bool counted = node.watch.stop();
  node.core.end(counted);
  if (counted) {
    node.load.wan_in += arrived;
    node.load.lan_in += node.lan_in.size();
    node.load.lan_out += node.lan_out.size();
    node.load.wan_out += node.wan_out.size();
    for (std::size_t i = 0; i < arrived; ++i) {
      if (arriving.sizes[arriving.queue[i].slot] >= full_frame_) ++node.load.data_in;
    }
    node.load.data_in += full_frames(node.lan_in, full_frame_);
    node.load.data_out +=
        full_frames(node.lan_out, full_frame_) + full_frames(node.wan_out, full_frame_);
  }
  node.lan_in.clear();
  drop_arrived(arriving, arrived);
}

void World::turn(Instant now) {
  // The LAN offers a little more than the satellite takes, so that the sender is never the limit.
  sender_.connect(sending_.lan_in, kOpensATurn, now);
  sender_.acknowledge(sending_.lan_in, now);
  if (spec_.outstanding == 0 ||
      sender_.payload_bytes() - receiver_.payload_bytes() < spec_.outstanding) {
    sender_.send(sending_.lan_in, kBurst + kBurst / 8, now);
  }
  carry(now);
}

void World::carry(Instant now) {
  run_sending(now);
  for (std::size_t i = 0; i < sending_.lan_out.size(); ++i) {
    sender_.handle_frame(sending_.lan_out[i]);
  }
  send_over(forward_, sending_.wan_out, now);

  run_receiving(now);
  for (std::size_t i = 0; i < receiving_.lan_out.size(); ++i) {
    receiver_.handle_frame(receiving_.lan_out[i], receiving_.lan_in, now);
  }
  send_over(backward_, receiving_.wan_out, now);
}

// Runs in long steps.
bool World::greet() {
  const auto alive = [](const Node& node) {
    return node.engine->peers()[0].state == stp::PeerState::kAlive;
  };
  const auto both = [&] { return alive(sending_) && alive(receiving_); };
  for (int i = 0; i < 100'000 && !both(); ++i) {
    carry(now_);
    now_ += Duration::milliseconds(1);
  }
  return both();
}

bool World::warm_up(Duration duration) {
  if (!greet()) return false;
  const Instant open_by = now_ + Duration::seconds(10);
  while (sender_.established() < spec_.flows && now_ < open_by) {
    turn(now_);
    now_ += turn_time_;
  }
  const Instant end = now_ + duration;
  while (now_ < end) {
    turn(now_);
    now_ += turn_time_;
  }
  return sender_.established() == spec_.flows && receiver_.payload_bytes() > 0;
}

template <typename Offer, typename Done>
std::optional<Turnover> World::turn_over(Offer offer, Done done) {
  sending_.watch.reset();
  receiving_.watch.reset();
  const Instant end = now_ + Duration::seconds(10);
  while (!done() && now_ < end) {
    offer();
    sender_.acknowledge(sending_.lan_in, now_);
    carry(now_);
    now_ += turn_time_;
  }
  if (!done()) return std::nullopt;
  const auto a_second = [&](const Node& node) {
    return static_cast<double>(spec_.flows) * 1e9 / node.watch.nanoseconds();
  };
  return Turnover{.sending = a_second(sending_), .receiving = a_second(receiving_)};
}

std::optional<Turnover> World::open_all() {
  if (!greet()) return std::nullopt;
  return turn_over([&] { sender_.connect(sending_.lan_in, kOpensATurn, now_); },
                   [&] { return sender_.established() == spec_.flows; });
}

std::optional<Turnover> World::close_all() {
  return turn_over([&] { sender_.close(sending_.lan_in, kOpensATurn, now_); },
                   [&] { return sender_.closed() == spec_.flows; });
}

std::optional<Churn> World::churn(Duration duration) {
  if (!greet()) return std::nullopt;
  // A call takes a limited number of a session's events. If calls were rare, events that wait for
  // their turn would be counted, too.
  constexpr Duration kTurn = Duration::microseconds(200);
  const Duration second = Duration::seconds(1);
  const auto a_second =
      static_cast<std::size_t>(static_cast<double>(spec_.flows) / duration.to_seconds());
  const std::size_t a_turn = std::max<std::size_t>(a_second / 5'000, 1);
  Churn result;
  // Turns that the scheduler interrupted are assumed to be like the others.
  std::uint64_t turns = 0;
  const auto taken_by = [&](const Node& node) {
    const auto all = static_cast<double>(turns);
    return node.watch.nanoseconds() * all / (all - static_cast<double>(node.watch.discarded()));
  };
  double before[2] = {0, 0};
  std::size_t closed_before = 0;
  sending_.watch.reset();
  receiving_.watch.reset();
  const auto end_second = [&] {
    const double taken[2] = {taken_by(sending_), taken_by(receiving_)};
    const auto closed = static_cast<double>(sender_.closed() - closed_before);
    for (std::size_t i = 0; closed > 0 && i < 2; ++i) {
      result.slowest_second = std::max(result.slowest_second, (taken[i] - before[i]) / closed);
    }
    std::ranges::copy(taken, before);
    closed_before = sender_.closed();
  };
  const Instant give_up = now_ + duration + second * 10;
  Instant next_second = now_ + second;
  while (sender_.closed() < spec_.flows) {
    if (now_ >= give_up) return std::nullopt;
    sender_.connect(sending_.lan_in, a_turn, now_);
    sender_.close(sending_.lan_in, 2 * a_turn, now_);
    sender_.acknowledge(sending_.lan_in, now_);
    carry(now_);
    ++turns;
    now_ += kTurn;
    if (now_ < next_second) continue;
    next_second += second;
    end_second();
  }
  const auto count = static_cast<double>(spec_.flows);
  result.connections = spec_.flows;
  result.sending_nanoseconds = taken_by(sending_) / count;
  result.receiving_nanoseconds = taken_by(receiving_) / count;
  result.batches = 2 * turns;
  result.discarded = sending_.watch.discarded() + receiving_.watch.discarded();
  result.time_waits =
      time_waits_of(sending_.engine->status(now_)) + time_waits_of(receiving_.engine->status(now_));
  return result;
}

void World::settle(Duration duration) {
  const Instant end = now_ + duration;
  while (now_ < end) {
    sender_.acknowledge(sending_.lan_in, now_);
    carry(now_);
    now_ += turn_time_;
  }
}

Loads World::measure(Duration duration) {
  for (Node* node : {&sending_, &receiving_}) {
    node->watch.reset();
    node->core.reset();
    node->load = {};
  }
  const std::uint64_t before = receiver_.payload_bytes();
  const Instant end = now_ + duration;
  std::uint64_t turns = 0;
  for (; now_ < end; ++turns) {
    turn(now_);
    now_ += turn_time_;
  }
  sending_.load.nanoseconds = sending_.watch.nanoseconds();
  receiving_.load.nanoseconds = receiving_.watch.nanoseconds();
  sending_.load.counted = sending_.core.totals();
  receiving_.load.counted = receiving_.core.totals();
  Loads loads;
  loads.not_counted = sending_.core.why_not();
  loads.sending = sending_.load;
  loads.receiving = receiving_.load;
  loads.discarded = sending_.watch.discarded() + receiving_.watch.discarded();
  loads.batches = 2 * turns;
  loads.virtual_seconds = duration.to_seconds();
  loads.goodput =
      static_cast<double>(receiver_.payload_bytes() - before) * 8 / duration.to_seconds();
  loads.arena_used_sending = sending_.engine->status(now_).arena_used;
  loads.arena_used_receiving = receiving_.engine->status(now_).arena_used;
  return loads;
}

}  // namespace satrelay::bench
