// HpFP: Murata et al., 10 Gbit/s with 500 ms round trip on an emulator, 9000-byte packets.
#include <cmath>

#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"

namespace satrelay::satlab {
namespace {

constexpr Duration kFrom = Duration::seconds(1);
constexpr Duration kTo = Duration::seconds(20);
constexpr Duration kInOrderFrom = Duration::seconds(5);
constexpr Duration kInOrderTo = Duration::seconds(85);
constexpr double kInOrderShare = 0.97;
constexpr double kMtu1500Share = 0.993;
// Four times the bytes in flight on a host's cable. Windows and buffers of this size fit into the
// processor's cache, which shortens a run by a tenth.
constexpr std::uint64_t kHostWindow = 256 << 10;
// The interval of the samples. The measured start-up time is a multiple of this interval.
constexpr Duration kSampling = Duration::milliseconds(50);

struct LossRow {
  double loss;
  const char* text;
  double target;  // Gbit/s at MTU 9000
  std::vector<Published> published;
};

Experiment build(double loss, std::uint16_t mtu, Duration duration, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(10'000);
  conditions.round_trip = Duration::milliseconds(500);
  conditions.loss = loss;
  conditions.mtu = mtu;
  conditions.overhead = config::kOverheadEthernet;
  conditions.seed = seed;
  Experiment experiment = experiment_for(conditions);
  // A flow's reassembly stores all bytes that arrive while a retransmission is missing. If the
  // retransmission is lost as well, the bytes of three or more round trips at the full rate must
  // fit. One flow gets 9/32 of the memory in each direction. Memory that is not touched costs
  // nothing.
  for (sim::Station& station : experiment.scenario.stations) {
    station.limits.memory = ByteCount(16ULL << 30);
    station.limits.host_window = ByteCount(kHostWindow);
    for (sim::HostSpec& host : station.hosts) {
      host.tcp.send_limit = host.tcp.receive_limit = kHostWindow;
    }
  }
  experiment.duration = duration;
  experiment.sampling = kSampling;
  add_flows(experiment, {.name = "bulk", .upload = kUnlimited});
  return experiment;
}

Case loss_case(const LossRow& row, std::uint16_t mtu, Length length) {
  // At MTU 1500, do not measure the rate of bytes in order, which needs longer runs: these runs
  // already have six times as many packets.
  const bool in_order = length == Length::kFull && mtu == 9000;
  const Duration duration = in_order ? kInOrderTo : kTo;
  Case one;
  const std::string size = mtu == 9000 ? "" : "mtu 1500, ";
  one.name = size + "loss " + row.text;
  const double bound = bound_rate(build(row.loss, mtu, kTo, 1), sim::Side::kA, kFrom, kTo) / 1e9;
  RowSpec stored{one.name, "Gbit/s", row.published, bound, row.target, Better::kHigher};
  if (mtu != 9000) {
    stored.published.clear();
    stored.target = bound * kMtu1500Share;
  }
  one.rows.push_back(stored);
  if (in_order) {
    one.rows.push_back(
        {one.name + ", in order at the far host, 5-85 s",
         "Gbit/s",
         {},
         bound_rate(build(row.loss, mtu, kInOrderTo, 1), sim::Side::kA, kInOrderFrom, kInOrderTo) /
             1e9,
         row.target * kInOrderShare,
         Better::kHigher});
  }
  const bool start_up = row.loss == 0 && mtu == 9000;
  if (start_up) {
    one.rows.push_back({"start-up: SYN to 99% of the final rate, grid 50 ms",
                        "s",
                        {{"HpFP", 6}, {"TCP-Hybla", 9}, {"UDT", 16}, {"CUBIC", 53}},
                        0.25,
                        0.5,
                        Better::kLower});
  }
  one.build = [row, mtu, duration](std::uint64_t seed) {
    return build(row.loss, mtu, duration, seed);
  };
  one.figures = [in_order, start_up](const RunResult& result) {
    const double rate = stored_rate(result, sim::Side::kB, kFrom, kTo);
    std::vector<double> figures = {rate / 1e9};
    if (in_order) {
      figures.push_back(received_rate(result, sim::Side::kB, kInOrderFrom, kInOrderTo) / 1e9);
    }
    if (start_up) {
      figures.push_back(seconds_until_rate(result, sim::Side::kB, Duration::zero(), rate * 0.99));
    }
    return figures;
  };
  return one;
}

}  // namespace

Paper hpfp_paper(Length length) {
  using enum Relation;
  // The figures are from the text beside figures 7 and 8. The paper's conclusion says that both TCP
  // and UDT have "less than 1 Gbps at 0.1% PLR or higher". Its text says that UDT has less than 1
  // Gbps at any higher loss.
  const LossRow rows[] = {
      {0, "0", 9.83, {{"HpFP", 9.9}, {"TCP-Hybla", 9.38}, {"UDT", 3.7}}},
      {0.0001, "0.01%", 9.83, {{"TCP-Hybla", 0.2, kAbout}, {"UDT", 1, kMore}}},
      {0.001, "0.1%", 9.82, {{"TCP-Hybla", 1, kLess}, {"UDT", 1, kLess}}},
      {0.01, "1%", 9.73, {{"HpFP", 9.5, kMore}, {"TCP-Hybla", 1, kLess}, {"UDT", 1, kLess}}},
      {0.1, "10%", 8.80, {{"HpFP", 1, kMore}, {"UDT", 1, kLess}}},
  };
  Paper paper{"hpfp", "HpFP: 10 Gbit/s, RTT 500 ms, Ethernet accounting (38 B a frame)", {}};
  for (const std::uint16_t mtu : {std::uint16_t{9000}, std::uint16_t{1500}}) {
    for (const LossRow& row : rows) paper.cases.push_back(loss_case(row, mtu, length));
  }
  return paper;
}

}  // namespace satrelay::satlab
