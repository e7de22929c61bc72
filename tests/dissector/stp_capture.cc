// stp-capture FOLDER writes captures of STP into FOLDER, with the expectation for each packet.
// `scenario` has the frames on the satellite link of two simulated gateways. See capture.h for the
// others.
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "pep/wire/udp.h"
#include "relay/gateway/frames/frame.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/dissector/capture.h"

namespace satrelay::dissector {

void Capture::add(Instant when, ConstBytes frame, std::size_t captured,
                  const Expectation& expectation) {
  pcap_.write(when, frame, captured);
  json_ << nlohmann::json{{"is_stp", expectation.is_stp},
                          {"fields_known", expectation.fields_known},
                          {"fields", expectation.fields},
                          {"findings", expectation.findings},
                          {"info", expectation.info}}
        << "\n";
}

namespace {

using sim::Side;

// Losses both ways, every mode of a rule, compression, a refused connection, a bypass, a new
// capacity, a restart in mid-transfer, and an orderly end.
sim::Scenario scenario() {
  sim::LinkSpec link;
  link.rate = BitRate::bits_per_second(20'000'000);
  link.one_way_delay = Duration::milliseconds(50);
  link.loss = 0.03;
  sim::Scenario lab = sim::make_lab(7, link, 2);
  config::Rule rule;
  rule.modes = {config::HandshakeMode::kRemote, config::AckMode::kEndToEnd,
                config::CloseMode::kConfirmed, config::WindowMode::kMirror};
  rule.traffic_class = "web";
  rule.match.port = {{443, 443}};
  lab.rules = {rule, config::Rule()};
  // So little memory that credit must be renewed.
  for (sim::Station& station : lab.stations) station.limits.memory = ByteCount(1U << 20U);
  const auto text = sim::Content::kText;
  add_flow(lab, Side::kA, sim::requester(200), sim::responder(200, 120'000));
  add_flow(lab, Side::kA, sim::sender(100'000), sim::receiver(), text).version = IpVersion::kV6;
  add_flow(lab, Side::kB, sim::requester(300), sim::responder(300, 80'000)).server_port = 443;
  add_flow(lab, Side::kB, sim::sender(10), sim::receiver()).server = sim::Server::kRefuses;
  // Still open when B restarts.
  add_flow(lab, Side::kA, sim::requester(100), sim::receiver()).server_port = 22;
  add_flow(lab, Side::kB, sim::sender(3'000'000), sim::receiver(), text).start =
      Instant() + Duration::seconds(7);
  return lab;
}

void write_scenario(const std::string& folder) {
  Capture capture(folder, "scenario");
  Observer observer;
  sim::Tracer tracer;
  sim::Network network(scenario(), tracer);
  network.satellite().on_frame([&](unsigned from, ConstBytes frame) {
    const gateway::Frame seen = gateway::look_at(frame);
    Expectation expectation;
    if (seen.kind == gateway::FrameKind::kUdp && wire::parse_udp(seen.payload) &&
        wire::parse_udp(seen.payload)->destination_port == kStpPort) {
      const ConstBytes packet = seen.payload.subspan(wire::kUdpHeaderSize);
      expectation = observer.observe(from, packet, packet.size());
    }
    capture.add(network.loop().now(), frame, frame.size(), expectation);
  });
  network.run_for(Duration::milliseconds(6'500));
  gateway::Gateway& b = network.gateway(Side::kB).engine();
  b.set_admission(gateway::Admission::kBypass, network.loop().now());
  network.gateway(Side::kB).wake();
  network.run_for(Duration::milliseconds(200));
  b.set_admission(gateway::Admission::kOpen, network.loop().now());
  b.rates().set_capacity("sat", gateway::LinkWay::kReceive, BitRate::bits_per_second(12'500'000),
                         network.loop().now());
  network.gateway(Side::kB).wake();
  network.run_for(Duration::milliseconds(1'000));
  network.gateway(Side::kB).kill();
  network.run_for(Duration::milliseconds(200));
  network.gateway(Side::kB).start(1'800'000'000'000'000'000U);
  network.run_for(Duration::seconds(2));
  network.gateway(Side::kA).shut_down();
  network.run_for(Duration::milliseconds(500));
}

}  // namespace
}  // namespace satrelay::dissector

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: stp-capture FOLDER\n");
    return 2;
  }
  try {
    satrelay::dissector::write_scenario(arguments[1]);
    satrelay::dissector::write_frames(arguments[1]);
    satrelay::dissector::write_damaged(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stp-capture: %s: %s\n", arguments[1], error.what());
    return 1;
  }
  return 0;
}
