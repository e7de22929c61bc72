// A gateway under arbitrary frames and arbitrary time. The input is a list of records: a port and a
// pause (1 octet), a length (2 octets), a frame. Whatever comes, nothing may trap, frames stay
// within their size, and the flow table within its limit.
#include <cstdlib>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/gateway/gateway.h"

namespace satrelay {
namespace {

config::Gateway configuration() {
  config::Gateway config;
  config.gateway.own = *IpAddress::parse("192.0.2.1");
  config.gateway.address = *IpPrefix::parse("192.0.2.0/30");
  config.links = {{.name = "sat",
                   .send_rate = BitRate::bits_per_second(50'000'000),
                   .receive_rate = BitRate::bits_per_second(50'000'000)}};
  config.peers = {{.name = "peer",
                   .address = *IpAddress::parse("192.0.2.2"),
                   .prefixes = {IpPrefix{}, IpPrefix{IpAddress::v6({}), 0}},
                   .link = "sat"}};
  config.limits.flows = 8;
  config.limits.memory = ByteCount(1 << 20);
  return config;
}

void drain(gateway::Gateway& gateway, Instant now) {
  std::vector<std::byte> frame(gateway.max_frame_size());
  for (const auto port : {gateway::PortId::kLan, gateway::PortId::kWan}) {
    while (const std::size_t size = gateway.poll_frame(port, frame, now)) {
      if (size > frame.size()) std::abort();
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
  while (reader.remaining() > 3) {
    const unsigned control = reader.u8();
    const std::size_t length = reader.u16() % 2048U;
    const ConstBytes frame = reader.bytes(std::min(length, reader.remaining()));
    now += Duration::microseconds(std::int64_t{1} << (control >> 2U & 31U));
    if (gateway.next_timeout() <= now) gateway.handle_timeout(now);
    gateway.handle_frame((control & 1U) != 0 ? gateway::PortId::kWan : gateway::PortId::kLan, frame,
                         now);
    drain(gateway, now);
    if (gateway.flow_count() > 8) std::abort();
  }
  return 0;
}
