#include "relay/sim/scenarios/scenario.h"

#include <fmt/format.h>

namespace satrelay::sim {

HostSpec make_host(Side side, std::size_t index, std::uint64_t seed) {
  const bool a = side == Side::kA;
  const auto last = static_cast<std::uint8_t>(10 + index);
  HostSpec spec;
  spec.name = (a ? "host a" : "host b") + std::to_string(index);
  spec.addresses.mac = {{0x02, 0x00, 0x5e, 0x00, static_cast<std::uint8_t>(a ? 0xa : 0xb), last}};
  spec.addresses.v4 = a ? IpAddress::v4({198, 51, 100, last}) : IpAddress::v4({203, 0, 113, last});
  spec.addresses.v6 =
      IpAddress::v6({0x20, 0x01, 0x0d, 0xb8, 0, static_cast<std::uint8_t>(a ? 0xa : 0xb), 0, 0, 0,
                     0, 0, 0, 0, 0, 0, last});
  spec.tcp.send_limit = 1 << 20;
  spec.tcp.receive_limit = 1 << 20;
  spec.tcp.window_scale = 7;
  spec.tcp.congestion = control::Congestion::kCubic;
  spec.seed = seed + (a ? 1000 : 2000) + index;
  return spec;
}

const char* name_of(control::Congestion congestion) {
  return congestion == control::Congestion::kCubic ? "cubic" : "newreno";
}

Scenario make_lab(std::uint64_t seed, const LinkSpec& link, std::size_t hosts) {
  Scenario scenario;
  scenario.seed = seed;
  for (const Side side : {Side::kA, Side::kB}) {
    Station& station = scenario.station(side);
    station.cable.rate = BitRate::bits_per_second(1'000'000'000);
    station.cable.delay = Duration::microseconds(100);
    for (std::size_t i = 0; i < hosts; ++i) station.hosts.push_back(make_host(side, i, seed));
  }
  scenario.a_to_b.rate = link.rate;
  scenario.a_to_b.delay = link.one_way_delay;
  scenario.a_to_b.loss = link.loss;
  scenario.b_to_a = scenario.a_to_b;
  return scenario;
}

void set_mtu(Scenario& scenario, const Mtu& mtu) {
  constexpr std::uint16_t kIpv4AndTcp = 40;
  scenario.lan_mtu = mtu.lan;
  scenario.wan_mtu = mtu.wan;
  scenario.stp.mtu = mtu.wan;
  for (Station& station : scenario.stations) {
    for (HostSpec& host : station.hosts) {
      host.tcp.mss = static_cast<std::uint16_t>(mtu.lan - kIpv4AndTcp);
    }
  }
}

FlowSpec& add_flow(Scenario& scenario, Side client_side, const Plan& client, const Plan& server,
                   Content content) {
  FlowSpec flow;
  flow.client_side = client_side;
  flow.client_plan = client;
  flow.server_plan = server;
  const std::uint64_t base = scenario.seed * 1'000'003 + scenario.flows.size() * 2;
  const Pattern up(base * 7919, content);
  const Pattern down((base + 1) * 7919, content);
  flow.client_plan.content = up;
  flow.server_plan.expected = up;
  flow.server_plan.content = down;
  flow.client_plan.expected = down;
  scenario.flows.push_back(flow);
  return scenario.flows.back();
}

std::string Scenario::summary() const {
  std::uint64_t bytes = 0;
  for (const FlowSpec& flow : flows) {
    bytes += flow.client_plan.send_bytes + flow.server_plan.send_bytes;
  }
  return fmt::format(
      "{} flows, {} bytes; a>b {:.1f} Mbit/s {} ms loss {:.3f} dup {:.3f} reorder {:.3f} corrupt "
      "{:.4f}; b>a {:.1f} Mbit/s loss {:.3f}; LAN loss {:.4f} {:.4f}; memory {} {} KiB; flow table "
      "{} "
      "{}; {} vanishing, {} restarts, {} outages",
      flows.size(), bytes, static_cast<double>(a_to_b.rate.to_bits_per_second()) / 1e6,
      a_to_b.delay.to_milliseconds(), a_to_b.loss, a_to_b.duplicate, a_to_b.reorder, a_to_b.corrupt,
      static_cast<double>(b_to_a.rate.to_bits_per_second()) / 1e6, b_to_a.loss,
      stations[0].cable.loss, stations[1].cable.loss, stations[0].limits.memory.value() >> 10,
      stations[1].limits.memory.value() >> 10, stations[0].limits.flows, stations[1].limits.flows,
      vanishings.size(), restarts.size(), outages.size());
}

}  // namespace satrelay::sim
