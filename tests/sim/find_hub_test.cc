// capacity: find at a hub, whose peers share a carrier and a modem: what many who find at a time do
// to the modem's queue, and what one of them can do to the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/sim/stations.h"

namespace satrelay::sim {
namespace {

using gateway::PortId;

constexpr std::uint64_t kRate = 20'000'000;  // of each modem
constexpr BitRate kModem = BitRate::bits_per_second(kRate);

class FindHub : public ::testing::Test {
 protected:
  // Terminals are stations 1 and up, behind modems of `rates`.
  void start(const std::vector<std::uint64_t>& rates) {
    std::vector<std::size_t> terminals;
    for (std::size_t i = 1; i <= rates.size(); ++i) terminals.push_back(i);
    StationSpec hub = station(0, terminals);
    config::Link& link = hub.gateway.links[0];
    link.control.controller = config::Controller::kFind;
    link.send_rate = config::kMostLinkRate;
    link.receive_rate = config::kAssumedRate;
    hub.hosts[0].tcp.send_limit = 4 << 20;
    stations.add(hub);
    for (const std::size_t i : terminals) {
      StationSpec terminal = station(i, {0});
      terminal.down.rate = BitRate::bits_per_second(rates[i - 1]);
      terminal.hosts[0].tcp.receive_limit = 4 << 20;
      stations.add(terminal);
    }
    stations.start();
    ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  }
  Transfer& download(std::size_t terminal, std::uint64_t bytes) {
    return stations.transfer(stations.host(terminal), stations.host(0), IpVersion::kV4, 100, bytes);
  }
  void run_for(Duration time) {
    const Instant end = stations.now() + time;
    worst = Duration::zero();
    std::uint64_t before = modem().counters().bytes_carried;
    while (stations.now() < end) {
      stations.loop().run_until(stations.now() + Duration::milliseconds(1));
      worst = std::max(worst, modem().queue_delay(stations.now()));
    }
    share = static_cast<double>(modem().counters().bytes_carried - before) /
            static_cast<double>(kModem.bytes_in(time).value());
  }
  link::LinkDirection& modem() { return stations.link(0).from_a(); }
  stp::Counters counters(std::size_t terminal) {
    return stations.gateway(0).engine().peers().at(terminal - 1).counters;
  }

  Stations stations;
  Duration worst;  // of the modem's queue, in the last run
  double share = 0;
};

class Explore : public FindHub, public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(X, Explore, ::testing::Values(1, 2, 4, 8));
TEST_P(Explore, E) {
  {
    const std::size_t n = GetParam();
    start(std::vector<std::uint64_t>(n, kRate));
    for (std::size_t i = 1; i <= n; ++i) download(i, 400'000'000);
    for (int k = 0; k < 6; ++k) {
      run_for(Duration::seconds(5));
      std::printf("  %d peers: %.3f, queue %.1f ms; cuts", (int)n, share, worst.to_seconds() * 1e3);
      for (std::size_t i = 1; i <= n; ++i) {
        const auto c = counters(i);
        const auto p = stations.gateway(0).engine().peers().at(i - 1);
        std::printf(" %d/%d:%.1f", (int)c.rate_cuts_delay, (int)(c.rate_cuts_configured+c.rate_cuts_controller),
                    (double)p.send_rate.to_bits_per_second() / 1e6);
      }
      std::printf("\n");
    }
  }
}

}  // namespace
}  // namespace satrelay::sim
