// Nanoseconds per 1500-byte frame through one gateway, beside a plain copy of the same bytes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/bench_world.h"
#include "tests/bench/micro.h"

namespace satrelay::bench {
namespace {

// 10 Gbit/s with full frames.
constexpr double kBudgetNanoseconds = 1538 * 8 / 10.0;

struct Row {
  std::string name;
  WorldSpec spec;
  Duration warm_up;
  Duration measured;
  double copy = 0;  // one copy of a frame, nanoseconds
  Loads loads;
};

std::vector<Row> rows(bool quick) {
  WorldSpec hot;
  hot.rate = BitRate::bits_per_second(1'000'000'000);
  hot.one_way_delay = Duration::microseconds(500);
  hot.gateway_memory = 128 << 20;
  hot.outstanding = 6 << 20;
  WorldSpec many = hot;
  many.flows = 1'000;
  WorldSpec large;
  large.rate = BitRate::bits_per_second(quick ? 500'000'000 : 10'000'000'000);
  large.one_way_delay = Duration::milliseconds(250);
  large.loss = 0.01;
  // A stream that waits for what was lost three times in a row stores three round trips' worth.
  large.gateway_memory = quick ? 512ULL << 20 : 9ULL << 30;
  large.touched = quick ? 128ULL << 20 : 2'500'000'000;
  WorldSpec large_many = large;
  large_many.flows = 1'000;
  // Hosts fill what memory they are given; this much keeps the link full.
  large_many.outstanding = quick ? 200'000'000 : 2'000'000'000;
  const std::string size = quick ? "31 MB" : "625 MB";
  const Duration hot_time = Duration::milliseconds(quick ? 500 : 5'000);
  const Duration large_time = Duration::milliseconds(2'000);  // four round trips
  std::vector<Row> list;
  list.push_back({"hot, 1 flow", hot, Duration::seconds(1), hot_time, 0, {}});
  WorldSpec hub = hot;
  hub.silent_peers = 49;
  hub.gateway_memory = 1024 << 20;
  list.push_back({"hot, 1 flow, 50 peers", hub, Duration::seconds(1), hot_time, 0, {}});
  list.push_back({"hot, 1,000 flows", many, Duration::seconds(1), hot_time, 0, {}});
  // The link is full, and what was lost twice and thrice has come.
  list.push_back(
      {size + ", 1% loss, 1 flow", large, Duration::milliseconds(2'600), large_time, 0, {}});
  list.push_back({size + ", 1% loss, 1,000 flows",
                  large_many,
                  Duration::milliseconds(1'800),
                  large_time,
                  0,
                  {}});
  return list;
}

void print(const Row& row) {
  const Loads& l = row.loads;
  std::printf("%-26s %8.0f %8.0f %9.0f %10.2f %9.1f %9.1f\n", row.name.c_str(),
              l.sending.per_frame(), l.receiving.per_frame(), row.copy, l.goodput / 1e9,
              static_cast<double>(l.arena_used_sending) / 1e6,
              static_cast<double>(l.arena_used_receiving) / 1e6);
}

void print_mix(const Row& row) {
  const auto per_hundred = [](std::uint64_t frames, const GatewayLoad& load) {
    return load.frames() > 0 ? 100.0 * static_cast<double>(frames) / load.frames() : 0.0;
  };
  const GatewayLoad& s = row.loads.sending;
  const GatewayLoad& r = row.loads.receiving;
  std::printf("%-26s LAN>STP: %5.1f LAN in, %5.1f LAN out, %5.1f STP in, %5.1f STP out\n",
              row.name.c_str(), per_hundred(s.lan_in, s), per_hundred(s.lan_out, s),
              per_hundred(s.wan_in, s), per_hundred(s.wan_out, s));
  std::printf("%-26s STP>LAN: %5.1f STP in, %5.1f STP out, %5.1f LAN out, %5.1f LAN in\n", "",
              per_hundred(r.wan_in, r), per_hundred(r.wan_out, r), per_hundred(r.lan_out, r),
              per_hundred(r.lan_in, r));
}

nlohmann::json to_json(const GatewayLoad& load) {
  return {{"ns_per_frame", load.per_frame()},
          {"data_frames", load.frames()},
          {"lan_in", load.lan_in},
          {"lan_out", load.lan_out},
          {"wan_in", load.wan_in},
          {"wan_out", load.wan_out}};
}

int run(int argc, char** argv) {
  CLI::App app("Nanoseconds per 1500-byte frame through one gateway", "bench_gateway");
  bool quick = false;
  double limit = 0;
  std::string json_path;
  std::string only;
  app.add_flag("--quick", quick, "a few seconds, with a smaller working set");
  app.add_option("--json", json_path, "write the figures to this file as well");
  app.add_option("--limit", limit, "fail if a hot row takes longer than this many nanoseconds");
  app.add_option("--only", only, "only the rows whose name contains this");
  CLI11_PARSE(app, argc, argv);

  std::printf(
      "Nanoseconds per 1500-byte IP frame of a bulk upload, the frame mix included: TCP data and\n"
      "ACKs, STP packets and feedback, timers. Timed around whole batches of each gateway's calls\n"
      "(those that the scheduler interrupted are left out); hosts, links and the other gateway "
      "are\n"
      "outside. Random content, compression auto: the entropy probe runs and leaves it alone.\n\n");
  std::printf("%-26s %8s %8s %9s %10s %9s %9s\n", "", "LAN>STP", "STP>LAN", "copy", "goodput",
              "stored", "stored");
  std::printf("%-26s %8s %8s %9s %10s %9s %9s\n", "", "ns", "ns", "ns", "Gbit/s*", "sender MB",
              "recv MB");
  const std::size_t frames = quick ? 100'000 : 1'000'000;
  const double hot_copy = copy_hot(frames);
  const std::size_t large_set = quick ? 31'000'000 : 625'000'000;
  const double large_copy = copy_through(large_set, quick ? 100'000 : 2'000'000);
  std::vector<Row> list = rows(quick);
  std::erase_if(list, [&](const Row& row) { return row.name.find(only) == std::string::npos; });
  nlohmann::json json;
  bool failed = false;
  for (Row& row : list) {
    const bool hot = row.spec.loss == 0;
    row.copy = hot ? hot_copy : large_copy;
    World world(row.spec);
    if (!world.warm_up(row.warm_up)) {
      std::fprintf(stderr, "bench_gateway: %s: not all flows opened, or nothing was carried\n",
                   row.name.c_str());
      return 1;
    }
    row.loads = world.measure(row.measured);
    print(row);
    std::fflush(stdout);
    json["rows"].push_back({{"name", row.name},
                            {"flows", row.spec.flows},
                            {"lan_to_stp", to_json(row.loads.sending)},
                            {"stp_to_lan", to_json(row.loads.receiving)},
                            {"copy_ns", row.copy},
                            {"goodput_bps", row.loads.goodput}});
    failed = failed ||
             (limit > 0 && hot &&
              (row.loads.sending.per_frame() > limit || row.loads.receiving.per_frame() > limit));
  }
  std::printf(
      "\n10 Gbit/s on one core leaves %.0f ns a frame. * in virtual time: that the link "
      "was full.\n",
      kBudgetNanoseconds);
  std::printf("\nFrames for each 100 data frames\n");
  for (const Row& row : list) print_mix(row);
  std::uint64_t discarded = 0, batches = 0;
  for (const Row& row : list) {
    discarded += row.loads.discarded;
    batches += row.loads.batches;
  }
  std::printf("\n%llu of %llu batches left out\n", static_cast<unsigned long long>(discarded),
              static_cast<unsigned long long>(batches));
  std::printf("\nParts, hot, ns a frame\n");
  for (const MicroRow& row : run_micro(frames)) {
    std::printf("%8.0f  %s\n", row.nanoseconds, row.name.c_str());
    json["parts"].push_back({{"name", row.name}, {"ns_per_frame", row.nanoseconds}});
  }
  if (!json_path.empty()) {
    std::ofstream file(json_path);
    file << json.dump(2) << "\n";
    if (!file) {
      std::fprintf(stderr, "bench_gateway: cannot write %s\n", json_path.c_str());
      return 1;
    }
  }
  if (failed) {
    std::fprintf(stderr, "bench_gateway: a hot row is slower than %.0f ns\n", limit);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }
