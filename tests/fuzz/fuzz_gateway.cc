// A gateway under arbitrary frames and arbitrary time. The input is a list of records: a port and a
// pause (1 octet), a length (2 octets), and a frame, which may come in fragments. For any input
// nothing may trap, frames must stay within their size, and the flow table within its limit.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "relay/gateway/gateway.h"
#include "relay/sim/network/fragments.h"
#include "tests/support/gateway_config.h"

namespace satrelay {
namespace {

config::Gateway configuration() {
  config::Gateway config =
      test::gateway_config({}, {test::peer_config("peer", "192.0.2.2", {"0.0.0.0/0", "::/0"})});
  for (const auto action : {config::Action::kReset, config::Action::kDrop}) {
    config::Rule rule;
    rule.action = action;
    rule.match.destination = {*IpPrefix::parse("10.0.0.0/9"), *IpPrefix::parse("fc00::/8")};
    rule.match.port = {
        {static_cast<std::uint16_t>(action == config::Action::kReset ? 1 : 256), 65535}};
    rule.match.dscp = {0, 46};
    config.rules.push_back(rule);
  }
  config.classes = {{.name = "voice", .guaranteed = BitRate::bits_per_second(1'000'000)},
                    {.name = "bulk", .weight = 9, .maximum = BitRate::bits_per_second(300'000)}};
  for (const config::TrafficClass& one : config.classes) {
    config::Rule rule;
    rule.match.source = {*IpPrefix::parse(one.name == "voice" ? "128.0.0.0/2" : "192.0.0.0/2")};
    rule.traffic_class = one.name;
    config.rules.push_back(rule);
  }
  config.rules.emplace_back();
  config.limits.flows = 8;
  config.limits.memory = ByteCount(1 << 20);
  return config;
}

using Frames = std::vector<std::vector<std::byte>>;

// Cuts an IP frame into fragments of 8 to 256 bytes with few identifications. One fragment is lost,
// and they come in either order. Other frames are unchanged.
Frames in_fragments(ConstBytes frame, unsigned draw) {
  const auto ethernet = wire::parse_ethernet(frame);
  const auto ip = ethernet ? wire::parse_ip(frame.subspan(ethernet->size())) : std::nullopt;
  Frames frames;
  if (!ip) {
    frames.emplace_back(frame.begin(), frame.end());
    return frames;
  }
  frames = sim::fragments_of(frame, {.size = 8 * (1 + (draw & 31U)), .identification = draw & 3U});
  if ((draw & 32U) != 0) std::ranges::reverse(frames);
  if ((draw & 64U) != 0 && frames.size() > 1) frames.erase(frames.begin() + 1);
  return frames;
}

using Slots = std::set<std::size_t>;

void drain(gateway::Gateway& gateway, Slots& held, Instant now) {
  std::vector<std::byte> frame(gateway.max_frame_size());
  for (const auto port : {gateway::PortId::kLan, gateway::PortId::kWan}) {
    while (true) {
      const gateway::Polled polled = gateway.poll_frame(port, frame, now);
      if (polled.kind == gateway::Polled::Kind::kNothing) break;
      if (polled.size > frame.size()) std::abort();
      const bool leaves = polled.kind == gateway::Polled::Kind::kHeld ||
                          polled.kind == gateway::Polled::Kind::kDropped;
      if (leaves && held.erase(polled.slot) == 0) std::abort();
    }
  }
}

}  // namespace
}  // namespace satrelay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace satrelay;
  static std::vector<std::byte> memory(1 << 20);
  Instant now = Instant::from_nanoseconds(1);
  gateway::Gateway gateway(configuration(),
                           {.boot_epoch = 1, .secret = {1, 2}, .wan_mac = {{2, 0, 0, 0, 0, 1}}},
                           memory, now);
  ByteReader reader(std::as_bytes(std::span(data, size)));
  Slots held;  // Slots in which a host would keep frames.
  while (reader.remaining() > 3) {
    const unsigned control = reader.u8();
    const unsigned shape = reader.u16();
    const std::size_t length = shape % 2048U;
    const ConstBytes frame = reader.bytes(std::min(length, reader.remaining()));
    now += Duration::microseconds(std::int64_t{1} << (control >> 2U & 31U));
    if (gateway.next_timeout() <= now) gateway.handle_timeout(now);
    const auto port = (control & 1U) != 0 ? gateway::PortId::kWan : gateway::PortId::kLan;
    Frames frames{{frame.begin(), frame.end()}};
    if ((control & 128U) != 0) frames = in_fragments(frame, shape >> 9U);
    for (const auto& each : frames) {
      const bool waits = gateway.handle_frame(port, each, now) == gateway::Verdict::kQueued;
      if (waits && !held.insert(gateway.held_slot()).second) std::abort();
    }
    // Frames also come in bursts, and then find the carrier busy.
    if ((control & 2U) == 0) drain(gateway, held, now);
    if (gateway.held_frames() != held.size()) std::abort();
    if (!held.empty() && *held.rbegin() >= gateway::Gateway::kMostHeldFrames) std::abort();
    if (gateway.flow_count() > 8) std::abort();
  }
  return 0;
}
