// The cost of records of flows. Measures a connection's whole life with and without records, in
// turn. Also measures how many records a second the writer brings to a file, to a collector, and to
// both.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "relay/records/record_ring.h"
#include "relay/records/record_writer.h"
#include "tests/bench/world/bench_world.h"
#include "tests/unit/relay/records/sample_record.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::bench {
namespace {

// A worker's recorder with a writer that keeps up.
class KeptUp final : public gateway::FlowRecorder {
 public:
  void handle_end(const gateway::FlowRecord& record) override {
    if (ring_.size() > records::RecordRing::kRoom / 2) ring_.take(ring_.readable().size());
    if (ring_.push(record)) ++count_;
  }
  std::uint64_t count() const { return count_; }

 private:
  records::RecordRing ring_;
  std::uint64_t count_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Nanoseconds of a connection in both gateways together; negative: something went wrong.
double life(unsigned seconds, std::uint64_t rate, bool recorded) {
  WorldSpec spec;
  spec.rate = BitRate::bits_per_second(10'000'000'000);
  spec.one_way_delay = Duration::milliseconds(5);
  spec.flows = seconds * rate;
  spec.at_once = rate / 5;
  spec.time_wait = static_cast<std::uint32_t>(spec.flows + 1);
  spec.gateway_memory = spec.touched = 256ULL << 20;
  World world(spec);
  KeptUp recorder;
  if (recorded) world.record_flows(recorder);
  const auto churn = world.churn(Duration::seconds(seconds));
  // The last flows wait for the far gateway's report on its LAN.
  world.settle(Duration::seconds(1));
  const std::uint64_t expected = recorded ? 2 * spec.flows : 0;  // From both gateways.
  if (!churn || recorder.count() != expected) return -1;
  return churn->sending_nanoseconds + churn->receiving_nanoseconds;
}

bool compare_lives(unsigned seconds, std::uint64_t rate, unsigned runs) {
  std::vector<double> without;
  std::vector<double> with;
  for (unsigned i = 0; i < runs; ++i) {
    for (const bool recorded : {i % 2 == 1, i % 2 == 0}) {
      const double nanoseconds = life(seconds, rate, recorded);
      if (nanoseconds < 0) {
        std::fprintf(stderr, "bench_records: not all connections ended, or left a record\n");
        return false;
      }
      (recorded ? with : without).push_back(nanoseconds / 2);
    }
  }
  std::printf(
      "A connection's whole life in one gateway, without data, medians of %u runs in turn\n", runs);
  std::printf("%10.0f ns without records\n%10.0f ns with records: %+.1f%%\n", median(without),
              median(with), 100 * (median(with) / median(without) - 1));
  return true;
}

// Receives datagrams as a collector that is quick enough.
class Sink {
 public:
  Sink() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    ::sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof own;
    auto* const address = reinterpret_cast<::sockaddr*>(&own);
    if (::bind(socket_, address, size) == 0) ::getsockname(socket_, address, &size);
    port_ = ntohs(own.sin_port);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() { ::close(socket_); }
  config::IpfixCollector collector() const {
    return {.address = IpAddress::v4({127, 0, 0, 1}), .port = port_};
  }
  void drain() {
    char octets[2048];
    while (::recv(socket_, octets, sizeof octets, MSG_DONTWAIT) > 0) {
    }
  }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

bool write_many(const char* name, const config::Records& config, Sink& sink, std::uint64_t many) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kBatch = 1'000;  // At 100,000 records a second, 10 ms leave this many.
  records::RecordRing ring;
  records::RecordWriter writer(config, {"ship", "base"}, {&ring});
  Instant now = Instant() + Duration::seconds(1);
  writer.look(now, 0);
  Clock::duration spent{};
  for (std::uint64_t done = 0; done < many; done += kBatch) {
    for (std::uint64_t i = 0; i < kBatch; ++i) ring.push(records::sample_record(done + i));
    now += Duration::milliseconds(10);
    const auto began = Clock::now();
    writer.look(now, 0);
    spent += Clock::now() - began;
    sink.drain();
  }
  const records::RecordCounters counters = writer.report().counters;
  const bool whole = (config.file.empty() || counters.written == many) &&
                     (!config.ipfix || counters.exported == many);
  const double seconds = std::chrono::duration<double>(spent).count();
  std::printf("%-16s %10.0f records a second, %6.0f ns each, %5.0f octets each%s\n", name,
              static_cast<double>(many) / seconds, seconds * 1e9 / static_cast<double>(many),
              static_cast<double>(counters.written_bytes + counters.exported_bytes) /
                  static_cast<double>(many),
              whole ? "" : ", and not all of them");
  return whole;
}

int run(int argc, char** argv) {
  CLI::App app("What records of flows cost", "bench_records");
  bool quick = false;
  unsigned runs = 9;
  app.add_flag("--quick", quick, "a little of each: that it still runs");
  app.add_option("--runs", runs, "of a connection's life, with and without")
      ->check(CLI::Range(1U, 99U));
  CLI11_PARSE(app, argc, argv);
  if (!compare_lives(quick ? 1 : 2, quick ? 5'000 : 50'000, quick ? 1 : runs)) return 1;

  const TemporaryFolder files;
  Sink sink;
  config::Records file;
  file.file = files.file("flows.json");
  config::Records ipfix;
  ipfix.ipfix = sink.collector();
  config::Records both = file;
  both.ipfix = ipfix.ipfix;
  const std::uint64_t many = quick ? 10'000 : 1'000'000;
  std::printf("The writer, alone on a core\n");
  const bool whole = write_many("file", file, sink, many) &
                     write_many("IPFIX over UDP", ipfix, sink, many) &
                     write_many("both", both, sink, many);
  return whole ? 0 : 1;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }
