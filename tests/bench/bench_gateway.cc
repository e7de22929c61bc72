// Nanoseconds per 1500-byte frame through one gateway, compared with a plain copy of the same
// bytes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/micro.h"
#include "tests/bench/world/bench_world.h"

namespace satrelay::bench {
namespace {

// 10 Gbit/s with full frames.
constexpr double kBudgetNanoseconds = 1538 * 8 / 10.0;

struct Row {
  std::string name;
  WorldSpec spec;
  Duration warm_up;
  Duration measured;
  double copy = 0;  // One copy of a frame, in nanoseconds.
  Loads loads;
};

bool is_hot(const WorldSpec& spec) { return spec.one_way_delay < Duration::milliseconds(10); }

WorldSpec hot_spec(std::size_t flows) {
  WorldSpec spec;
  spec.rate = BitRate::bits_per_second(1'000'000'000);
  spec.one_way_delay = Duration::microseconds(500);
  spec.gateway_memory = 128 << 20;
  spec.outstanding = 6 << 20;
  spec.flows = flows;
  return spec;
}

void add_hot_rows(bool quick, std::vector<Row>& list) {
  const auto add = [&](const char* name, const WorldSpec& spec) {
    list.push_back({name,
                    spec,
                    Duration::milliseconds(quick ? 300 : 1'000),
                    Duration::milliseconds(quick ? 300 : 5'000),
                    0,
                    {}});
  };
  add("hot, 1 flow", hot_spec(1));
  WorldSpec spec = hot_spec(1);
  spec.loss = 0.01;
  add("hot, 1 flow, 1% loss", spec);
  spec = hot_spec(1);
  spec.mtu = 9'000;
  add("hot, 1 flow, 9000 bytes", spec);
  spec = hot_spec(1);
  spec.ipv6 = true;
  add("hot, 1 flow, IPv6", spec);
  spec = hot_spec(1);
  spec.compressible = true;
  add("hot, 1 flow, compressible", spec);
  spec = hot_spec(1);
  spec.encrypted = true;
  add("hot, 1 flow, encrypted", spec);
  spec = hot_spec(1);
  spec.ports_sum = true;
  add("hot, 1 flow, checksums by ports", spec);
  spec = hot_spec(1);
  spec.compresses = false;
  add("hot, 1 flow, no compression", spec);
  spec = hot_spec(1);
  spec.silent_peers = 300;
  spec.gateway_memory = 1024 << 20;
  add("hot, 1 flow, 300 silent peers", spec);
  add("hot, 1,000 flows", hot_spec(1'000));
  spec = hot_spec(1'000);
  spec.rules = 1'000;
  add("hot, 1,000 flows, 1,000 rules", spec);
  spec = hot_spec(quick ? 10'000 : 100'000);
  spec.active = 1'000;
  spec.gateway_memory = 1024 << 20;
  add(quick ? "hot, 10,000 flows, 1,000 active" : "hot, 100,000 flows, 1,000 active", spec);
}

// The working set of 10 Gbit/s x 500 ms.
void add_cold_rows(bool quick, std::vector<Row>& list) {
  WorldSpec large;
  large.rate = BitRate::bits_per_second(quick ? 500'000'000 : 10'000'000'000);
  large.one_way_delay = Duration::milliseconds(250);
  large.loss = 0.01;
  // A stream that waits for bytes that were lost three times in a row stores three round trips'
  // worth.
  large.gateway_memory = quick ? 512ULL << 20 : 9ULL << 30;
  large.touched = quick ? 128ULL << 20 : 2'500'000'000;
  WorldSpec large_many = large;
  large_many.flows = 1'000;
  // Hosts fill all memory that they are given. This much keeps the link full.
  large_many.outstanding = quick ? 200'000'000 : 2'000'000'000;
  const std::string size = quick ? "31 MB" : "625 MB";
  const Duration time = Duration::milliseconds(2'000);  // Four round trips.
  // By then the link is full, and bytes that were lost two or three times have arrived.
  list.push_back({size + ", 1% loss, 1 flow", large, Duration::milliseconds(2'600), time, 0, {}});
  list.push_back(
      {size + ", 1% loss, 1,000 flows", large_many, Duration::milliseconds(1'800), time, 0, {}});
}

std::vector<Row> rows(bool quick) {
  std::vector<Row> list;
  add_hot_rows(quick, list);
  add_cold_rows(quick, list);
  return list;
}

struct OpeningRow {
  std::string name;
  WorldSpec spec;
};

std::vector<OpeningRow> opening_rows(bool quick) {
  WorldSpec spec = hot_spec(quick ? 2'000 : 20'000);
  spec.gateway_memory = 512 << 20;
  WorldSpec ruled = spec;
  ruled.rules = 1'000;
  return {{"no rules", spec}, {"1,000 rules", ruled}};
}

void print(const Row& row) {
  const Loads& l = row.loads;
  std::printf("%-34s %8.0f %8.0f %9.0f %10.2f %9.1f %9.1f\n", row.name.c_str(),
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
  std::printf("%-34s LAN>STP: %5.1f LAN in, %5.1f LAN out, %5.1f STP in, %5.1f STP out\n",
              row.name.c_str(), per_hundred(s.lan_in, s), per_hundred(s.lan_out, s),
              per_hundred(s.wan_in, s), per_hundred(s.wan_out, s));
  std::printf("%-34s STP>LAN: %5.1f STP in, %5.1f STP out, %5.1f LAN out, %5.1f LAN in\n", "",
              per_hundred(r.wan_in, r), per_hundred(r.wan_out, r), per_hundred(r.lan_out, r),
              per_hundred(r.lan_in, r));
}

// Prints instructions, cycles and misses of a frame.
void print_counted(const Row& row) {
  std::printf("%-34s", row.name.c_str());
  for (const GatewayLoad* load : {&row.loads.sending, &row.loads.receiving}) {
    for (const std::uint64_t count : load->counted) {
      std::printf(" %8.0f", load->per_frame(static_cast<double>(count)));
    }
  }
  std::printf("\n");
}

void print_counted(const std::vector<Row>& rows) {
  if (rows.empty()) return;
  if (const std::string& why = rows.front().loads.not_counted; !why.empty()) {
    std::printf("\nNo instructions and misses: the processor's counters cannot be used: %s\n",
                why.c_str());
    return;
  }
  std::printf("\n%-34s %26s %26s\n%-34s", "A frame, counted by the processor", "LAN>STP", "STP>LAN",
              "");
  for (int way = 0; way < 2; ++way) std::printf(" %8s %8s %8s", "instr.", "cycles", "misses");
  std::printf("\n");
  for (const Row& row : rows) print_counted(row);
}

nlohmann::json to_json(const GatewayLoad& load) {
  return {{"ns_per_frame", load.per_frame()}, {"instructions", load.counted[0]},
          {"cycles", load.counted[1]},        {"cache_misses", load.counted[2]},
          {"data_frames", load.frames()},     {"lan_in", load.lan_in},
          {"lan_out", load.lan_out},          {"wan_in", load.wan_in},
          {"wan_out", load.wan_out}};
}

// Prints a row for each case, or says why it cannot.
bool run_openings(bool quick, std::size_t of_a_host, const std::string& only,
                  nlohmann::json& json) {
  std::printf("\nFlows a second, one gateway, without data\n%-34s %10s %10s %10s %10s\n", "",
              "open LAN>", "open STP>", "close LAN>", "close STP>");
  std::vector<OpeningRow> list = opening_rows(quick);
  for (OpeningRow& row : list) {
    const std::string name = "openings, " + row.name;
    if (name.find(only) == std::string::npos) continue;
    row.spec.flows_of_a_host = of_a_host;
    World world(row.spec);
    const auto opened = world.open_all();
    const auto closed = opened ? world.close_all() : std::nullopt;
    if (!closed) {
      std::fprintf(stderr, "bench_gateway: %s: not all flows opened and closed\n", name.c_str());
      return false;
    }
    std::printf("%-34s %10.0f %10.0f %10.0f %10.0f\n", name.c_str(), opened->sending,
                opened->receiving, closed->sending, closed->receiving);
    json["openings"].push_back({{"name", name},
                                {"opens_lan_to_stp", opened->sending},
                                {"opens_stp_to_lan", opened->receiving},
                                {"closes_lan_to_stp", closed->sending},
                                {"closes_stp_to_lan", closed->receiving}});
  }
  return true;
}

int run(int argc, char** argv) {
  CLI::App app("Nanoseconds per 1500-byte frame through one gateway", "bench_gateway");
  bool quick = false;
  double limit = 0;
  std::string json_path;
  std::string only;
  std::size_t of_a_host = WorldSpec().flows_of_a_host;
  app.add_flag("--quick", quick, "a few seconds, with a smaller working set");
  app.add_option("--json", json_path, "write the figures to this file as well");
  app.add_option("--limit", limit, "fail if a hot row takes longer than this many nanoseconds");
  app.add_option("--only", only, "only the row of this name, or all whose names contain it");
  app.add_option("--flows-of-a-host", of_a_host, "the connections of each host that connects")
      ->check(CLI::Range(std::size_t{1}, BulkFlows::kMostOfAHost))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::printf(
      "Nanoseconds per full IP frame (1500 bytes) of a bulk upload, the frame mix included: TCP "
      "data and\n"
      "ACKs, STP packets and feedback, timers. Timed around whole batches of each gateway's calls\n"
      "(those that the scheduler interrupted are left out); hosts, links and the other gateway "
      "are\n"
      "outside. Compression auto: of random content the entropy probe runs and leaves it "
      "alone.\n\n");
  std::printf("%-34s %8s %8s %9s %10s %9s %9s\n", "", "LAN>STP", "STP>LAN", "copy", "goodput",
              "stored", "stored");
  std::printf("%-34s %8s %8s %9s %10s %9s %9s\n", "", "ns", "ns", "ns", "Gbit/s*", "sender MB",
              "recv MB");
  const std::size_t frames = quick ? 100'000 : 1'000'000;
  std::vector<Row> list = rows(quick);
  const bool exact = std::ranges::find(list, only, &Row::name) != list.end();
  std::erase_if(list, [&](const Row& row) {
    return exact ? row.name != only : row.name.find(only) == std::string::npos;
  });
  const bool any_cold = std::ranges::any_of(list, [](const Row& row) { return !is_hot(row.spec); });
  const double hot_copy = copy_hot(frames);
  const std::size_t large_set = quick ? 31'000'000 : 625'000'000;
  const double large_copy = any_cold ? copy_through(large_set, quick ? 100'000 : 2'000'000) : 0;
  nlohmann::json json;
  bool failed = false;
  for (Row& row : list) {
    const bool hot = is_hot(row.spec);
    row.copy = hot ? hot_copy : large_copy;
    row.spec.flows_of_a_host = of_a_host;
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
             (limit > 0 && hot && !row.spec.compressible &&
              (row.loads.sending.per_frame() > limit || row.loads.receiving.per_frame() > limit));
  }
  std::printf(
      "\n10 Gbit/s on one core leaves %.0f ns a frame. * in virtual time: that the link "
      "was full.\n",
      kBudgetNanoseconds);
  std::printf("\nFrames for each 100 data frames\n");
  for (const Row& row : list) print_mix(row);
  print_counted(list);
  std::uint64_t discarded = 0, batches = 0;
  for (const Row& row : list) {
    discarded += row.loads.discarded;
    batches += row.loads.batches;
  }
  std::printf("\n%llu of %llu batches left out\n", static_cast<unsigned long long>(discarded),
              static_cast<unsigned long long>(batches));
  if (!run_openings(quick, of_a_host, only, json)) return 1;
  if (only.empty()) std::printf("\nParts, hot, ns a frame\n");
  for (const MicroRow& row : only.empty() ? run_micro(frames) : std::vector<MicroRow>()) {
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
