#include "relay/sim/checks/recorder.h"

#include "pep/base/check.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {
namespace {

GatewaySample sample_gateway(Network& network, Side side) {
  GatewaySample sample;
  sample.running = network.is_running(side);
  if (!sample.running) return sample;
  GatewayNode& node = network.gateway(side);
  for (const auto& field : gateway::Counters::kFields) {
    for (unsigned i = 0; i < node.workers(); ++i) {
      sample.frames.add(field.member, node.engine(i).counters()[field.member]);
    }
  }
  sample.arena_used = node.arena_used(network.loop().now());
  const auto peers = node.engine().peers();
  const gateway::PeerSnapshot& peer = peers.front();
  sample.peer = peer.state;
  sample.stp = peer.counters;
  sample.send_rate = peer.send_rate;
  sample.rtt = peer.rtt.value_or(Duration::zero());
  sample.loss_ratio = peer.loss_ratio.value_or(0);
  sample.packets_in_flight = peer.packets_in_flight;
  sample.bytes_stored = peer.bytes_stored;
  return sample;
}

LinkSample sample_link(link::LinkDirection& direction, Instant now) {
  LinkSample sample;
  sample.counters = direction.counters();
  sample.queue = direction.queue(now);
  sample.counters.queue_bytes = sample.queue.value();
  sample.queue_delay = direction.queue_delay(now);
  sample.queue_peak = direction.take_queue_peak();
  sample.frames_in_flight = direction.frames_in_flight();
  sample.rate = direction.rate();
  return sample;
}

}  // namespace

std::uint64_t Sample::delivered_to(Side side) const {
  std::uint64_t sum = 0;
  for (const FlowSample& flow : flows) {
    sum += flow.client_side == side ? flow.client_received : flow.server_received;
  }
  return sum;
}

Sample take_sample(Network& network) {
  Sample sample;
  sample.when = network.loop().now();
  for (const Side side : {Side::kA, Side::kB}) {
    sample.gateways[static_cast<std::size_t>(side)] = sample_gateway(network, side);
  }
  sample.links[0] = sample_link(network.satellite().from_a(), sample.when);
  sample.links[1] = sample_link(network.satellite().from_b(), sample.when);
  sample.flows.reserve(network.flow_count());
  for (std::size_t i = 0; i < network.flow_count(); ++i) {
    const FlowResult& flow = network.flow(i);
    sample.flows.push_back({.client_side = network.spec(i).client_side,
                            .client_written = flow.client.written,
                            .server_received = flow.server.received,
                            .server_written = flow.server.written,
                            .client_received = flow.client.received});
  }
  return sample;
}

Recorder::Recorder(Network& network, Duration interval)
    : network_(&network), interval_(interval), next_(network.loop().now()) {
  SATRELAY_CHECK(interval > Duration::zero());
  samples_.push_back(take_sample(network));
  schedule();
}

void Recorder::schedule() {
  next_ += interval_;
  network_->loop().at(next_, [this] {
    if (stopped_) return;
    samples_.push_back(take_sample(*network_));
    schedule();
  });
}

void Recorder::stop() {
  if (stopped_) return;
  stopped_ = true;
  if (samples_.back().when != network_->loop().now()) samples_.push_back(take_sample(*network_));
}

}  // namespace satrelay::sim
