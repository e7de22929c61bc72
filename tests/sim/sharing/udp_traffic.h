// UDP at constant rates between hosts of A and of B, which the gateways bridge. Each datagram says
// when it was sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

struct UdpPlan {
  Side from = Side::kA;
  std::size_t host = 1;        // On either side.
  double bits_per_second = 0;  // As the link counts frames.
  std::size_t ip_bytes = 1'500;
  std::uint16_t port = 5'001;
  Instant start;
  Duration length;
};

struct UdpResult {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  Duration longest_wait;        // Beyond the link's delay.
  std::vector<Duration> waits;  // One for each received datagram.

  double lost_percent() const {
    return sent == 0 ? 0 : 100 * (1 - static_cast<double>(received) / static_cast<double>(sent));
  }
};

class UdpTraffic {
 public:
  UdpTraffic(Network& network, Duration one_way) : network_(network), one_way_(one_way) {}

  // The frame that the flow with number `flow` sends.
  const std::vector<std::byte>& frame_of(std::size_t flow) const { return flows_[flow].frame; }

  static double frame_bits(std::size_t ip_bytes) {
    return static_cast<double>(ip_bytes + config::kOverheadEthernet) * 8;
  }

  // Each flow needs a port of its own.
  const UdpResult& add(const UdpPlan& plan) {
    Flow& flow = flows_.emplace_back();
    flow.plan = plan;
    SimHost& source = network_.host(plan.from, plan.host);
    SimHost& sink = network_.host(opposite(plan.from), plan.host);
    prepare(flow, source.spec().addresses, sink.spec().addresses);
    sink.on_other_frame([this](ConstBytes frame) { receive(frame); });
    const double interval = frame_bits(plan.ip_bytes) / plan.bits_per_second;
    const auto count = static_cast<std::uint64_t>(plan.length.to_seconds() / interval);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto offset = static_cast<std::int64_t>(static_cast<double>(i) * interval * 1e9);
      network_.loop().at(plan.start + Duration::nanoseconds(offset), [this, &flow] { send(flow); });
    }
    return flow.result;
  }

 private:
  static constexpr std::size_t kUdpAt = wire::kEthernetHeaderSize + wire::kIpv4HeaderSize;
  static constexpr std::size_t kStampAt = kUdpAt + wire::kUdpHeaderSize;

  struct Flow {
    UdpPlan plan;
    UdpResult result;
    std::vector<std::byte> frame;
  };

  static void prepare(Flow& flow, const OwnAddresses& from, const OwnAddresses& to) {
    std::vector<std::byte>& frame = flow.frame;
    frame.resize(wire::kEthernetHeaderSize + flow.plan.ip_bytes);
    wire::EthernetHeader ethernet;
    ethernet.destination = to.mac;
    ethernet.source = from.mac;
    ethernet.type = wire::EtherType::kIpv4;
    wire::write_ethernet(ethernet, frame);
    wire::IpHeader ip;
    ip.source = from.v4;
    ip.destination = to.v4;
    ip.protocol = wire::kProtocolUdp;
    ip.payload_size = static_cast<std::uint16_t>(flow.plan.ip_bytes - wire::kIpv4HeaderSize);
    wire::write_ip(ip, MutableBytes(frame).subspan(wire::kEthernetHeaderSize));
    wire::write_udp({5'000, flow.plan.port, ip.payload_size, 0},
                    MutableBytes(frame).subspan(kUdpAt));
  }
  void send(Flow& flow) {
    store_u64(&flow.frame[kStampAt],
              static_cast<std::uint64_t>(network_.loop().now().to_nanoseconds()));
    network_.host(flow.plan.from, flow.plan.host).send_raw(flow.frame);
    ++flow.result.sent;
  }
  void receive(ConstBytes frame) {
    if (frame.size() < kStampAt + 8) return;
    const std::uint16_t port = load_u16(&frame[kUdpAt + 2]);
    const auto flow = std::ranges::find(flows_, port, [](const Flow& f) { return f.plan.port; });
    if (flow == flows_.end() || frame.size() != flow->frame.size()) return;
    const auto stamp =
        Instant::from_nanoseconds(static_cast<std::int64_t>(load_u64(&frame[kStampAt])));
    const Duration wait = network_.loop().now() - stamp - one_way_;
    flow->result.longest_wait = std::max(flow->result.longest_wait, wait);
    flow->result.waits.push_back(wait);
    ++flow->result.received;
  }

  Network& network_;
  Duration one_way_;
  std::deque<Flow> flows_;
};

}  // namespace satrelay::sim
