#include "tests/bench/bench_world.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace satrelay::bench {
namespace {

using gateway::PortId;

constexpr std::uint64_t kFrameOnLink = 1500 + config::kOverheadEthernet;
constexpr std::size_t kFullFrame = 1'400;  // and more: carries data

std::uint64_t full_frames(const FrameBatch& frames) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].size() >= kFullFrame) ++count;
  }
  return count;
}

HostAddresses client() { return {{{0x02, 0, 0, 0, 0, 0x0a}}, IpAddress::v4({198, 51, 100, 10})}; }
HostAddresses server() { return {{{0x02, 0, 0, 0, 0, 0x0b}}, IpAddress::v4({203, 0, 113, 10})}; }

config::Gateway gateway_config(const WorldSpec& spec, bool sending) {
  config::Gateway config;
  config.lan.interface = "lan";
  config.wan.interface = "wan";
  config.gateway.own = IpAddress::v4({192, 0, 2, static_cast<std::uint8_t>(sending ? 1 : 2)});
  config.gateway.address = *IpPrefix::parse("192.0.2.0/30");
  config::Link link;
  link.name = "sat";
  link.send_rate = spec.rate;
  link.receive_rate = spec.rate;
  config.links.push_back(link);
  config::Peer peer;
  peer.name = "far";
  peer.address = IpAddress::v4({192, 0, 2, static_cast<std::uint8_t>(sending ? 2 : 1)});
  peer.prefixes = {*IpPrefix::parse(sending ? "203.0.113.0/24" : "198.51.100.0/24")};
  peer.link = "sat";
  config.peers.push_back(peer);
  for (std::size_t i = 0; sending && i < spec.silent_peers; ++i) {
    const auto low = static_cast<std::uint8_t>(i);
    config.gateway.next_hop = peer.address;
    config::Peer silent;
    silent.name = "silent-" + std::to_string(i);
    silent.address = IpAddress::v4({10, 9, 0, low});
    silent.prefixes = {*IpPrefix::parse("10.8." + std::to_string(i) + ".0/24")};
    silent.link = "sat";
    config.peers.push_back(silent);
  }
  config.limits.memory = ByteCount(spec.gateway_memory);
  config.limits.flows = static_cast<std::uint32_t>(std::max<std::size_t>(spec.flows + 16, 64));
  config.limits.half_open = config.limits.flows;
  return config;
}

}  // namespace

World::World(const WorldSpec& spec)
    : spec_(spec),
      turn_time_(spec.rate.time_for(ByteCount(kBurst * kFrameOnLink))),
      sender_(client(), server(), spec.flows),
      receiver_(server(), spec.flows) {
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
  node.engine = std::make_unique<gateway::Gateway>(gateway_config(spec, sending), identity,
                                                   node.memory.bytes(), now_);
}

void World::send_over(DelayLine& line, const FrameBatch& frames, Instant now) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const ConstBytes frame = frames[i];
    if (line.loss > 0 && random_.chance(line.loss)) continue;
    if (line.free.empty()) {
      line.slots.emplace_back(new std::byte[FrameBatch::kFrameRoom]);
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

  node.watch.start();
  for (std::size_t i = 0; i < node.lan_in.size(); ++i) {
    engine.handle_frame(PortId::kLan, node.lan_in[i], now);
  }
  for (std::size_t i = 0; i < arrived; ++i) {
    const std::uint32_t slot = arriving.queue[i].slot;
    engine.handle_frame(PortId::kWan, ConstBytes(arriving.slots[slot].get(), arriving.sizes[slot]),
                        now);
  }
  if (engine.next_timeout() <= now) engine.handle_timeout(now);
  while (!node.lan_out.full()) {
    const std::size_t size = engine.poll_frame(PortId::kLan, node.lan_out.room(), now).size;
    if (size == 0) break;
    node.lan_out.push(size);
  }
  while (!node.wan_out.full()) {
    const std::size_t size = engine.poll_frame(PortId::kWan, node.wan_out.room(), now).size;
    if (size == 0) break;
    node.wan_out.push(size);
  }
  if (node.watch.stop()) {
    node.load.wan_in += arrived;
    node.load.lan_in += node.lan_in.size();
    node.load.lan_out += node.lan_out.size();
    node.load.wan_out += node.wan_out.size();
    for (std::size_t i = 0; i < arrived; ++i) {
      if (arriving.sizes[arriving.queue[i].slot] >= kFullFrame) ++node.load.data_in;
    }
    node.load.data_in += full_frames(node.lan_in);
    node.load.data_out += full_frames(node.lan_out) + full_frames(node.wan_out);
  }
  node.lan_in.clear();
  drop_arrived(arriving, arrived);
}

void World::turn(Instant now) {
  // The LAN offers a little more than the satellite takes, so that the sender is never the limit.
  if (sender_.established() < spec_.flows) sender_.connect(sending_.lan_in, now);
  if (spec_.outstanding == 0 ||
      sender_.payload_bytes() - receiver_.payload_bytes() < spec_.outstanding) {
    sender_.send(sending_.lan_in, kBurst + kBurst / 8, now);
  }
  run_gateway(sending_, backward_, now);
  for (std::size_t i = 0; i < sending_.lan_out.size(); ++i) {
    sender_.handle_frame(sending_.lan_out[i]);
  }
  send_over(forward_, sending_.wan_out, now);

  run_gateway(receiving_, forward_, now);
  for (std::size_t i = 0; i < receiving_.lan_out.size(); ++i) {
    receiver_.handle_frame(receiving_.lan_out[i], receiving_.lan_in, now);
  }
  send_over(backward_, receiving_.wan_out, now);
}

bool World::warm_up(Duration duration) {
  // Greetings first, in long steps; then flows, which open as fast as the SYNs are answered.
  const auto alive = [](const Node& node) {
    return node.engine->peers()[0].state == stp::PeerState::kAlive;
  };
  for (int i = 0; i < 100'000 && !(alive(sending_) && alive(receiving_)); ++i) {
    run_gateway(sending_, backward_, now_);
    send_over(forward_, sending_.wan_out, now_);
    run_gateway(receiving_, forward_, now_);
    send_over(backward_, receiving_.wan_out, now_);
    now_ += Duration::milliseconds(1);
  }
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

Loads World::measure(Duration duration) {
  for (Node* node : {&sending_, &receiving_}) {
    node->watch.reset();
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
  Loads loads;
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
