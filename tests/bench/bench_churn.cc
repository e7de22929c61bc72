// How many connections a second one gateway opens and closes on one core. A run lasts as long as
// TIME-WAIT and longer, so that the table is as full as it gets and all of its memory is in use.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/bench/world/bench_world.h"

namespace satrelay::bench {
namespace {

std::uint64_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

int run(int argc, char** argv) {
  CLI::App app("Connections that one gateway opens and closes, without data", "bench_churn");
  unsigned seconds = 60;
  std::uint64_t rate = 100'000;
  bool quick = false;
  std::string json_path;
  app.add_option("--seconds", seconds, "for how long, in virtual time")
      ->check(CLI::Range(1U, 120U));
  // A client's address has 50,000 ports, and its network has 100 such addresses and more.
  app.add_option("--rate", rate, "connections a virtual second")
      ->check(CLI::Range(5'000U, 100'000U));
  app.add_flag("--quick", quick, "two seconds of 5,000: that it still runs");
  app.add_option("--json", json_path, "write the figures to this file as well");
  CLI11_PARSE(app, argc, argv);
  if (quick) {
    seconds = 2;
    rate = 5'000;
  }

  WorldSpec spec;
  spec.rate = BitRate::bits_per_second(10'000'000'000);
  spec.one_way_delay = Duration::milliseconds(5);
  spec.flows = seconds * rate;
  // Each connection is open for some round trips.
  spec.at_once = rate / 5;
  spec.time_wait = static_cast<std::uint32_t>(spec.flows + 1);
  spec.gateway_memory = spec.touched = 256ULL << 20;
  World world(spec);
  const std::uint64_t before = heap();
  const auto churn = world.churn(Duration::seconds(seconds));
  if (!churn) {
    std::fprintf(stderr, "bench_churn: not all connections were opened and closed\n");
    return 1;
  }
  const double slower = std::max(churn->sending_nanoseconds, churn->receiving_nanoseconds);
  std::printf("%llu connections, %llu a virtual second, opened and closed without data\n",
              static_cast<unsigned long long>(churn->connections),
              static_cast<unsigned long long>(rate));
  std::printf("%10.0f ns each in the client's gateway\n", churn->sending_nanoseconds);
  std::printf("%10.0f ns each in the server's gateway\n", churn->receiving_nanoseconds);
  std::printf("%10.0f ns each in the slowest virtual second of either\n", churn->slowest_second);
  std::printf("%10.0f a second on one core, by the slower gateway\n", 1e9 / slower);
  std::printf("%10llu in TIME-WAIT at the end\n",
              static_cast<unsigned long long>(churn->time_waits));
  std::printf("%10.1f MB of heap more than before, of both gateways and of what links hold\n",
              static_cast<double>(heap() - before) / 1e6);
  std::printf("%llu of %llu batches left out, as others had the core\n",
              static_cast<unsigned long long>(churn->discarded),
              static_cast<unsigned long long>(churn->batches));
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << nlohmann::json{{"connections", churn->connections},
                         {"sending_ns", churn->sending_nanoseconds},
                         {"receiving_ns", churn->receiving_nanoseconds},
                         {"slowest_second_ns", churn->slowest_second},
                         {"time_waits", churn->time_waits}}
              .dump(2)
       << "\n";
  if (file) return 0;
  std::fprintf(stderr, "bench_churn: cannot write %s\n", json_path.c_str());
  return 1;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }
