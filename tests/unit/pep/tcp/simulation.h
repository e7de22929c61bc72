// Two endpoints over a bad channel in virtual time. All that a run does follows from its seed.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "pep/base/random.h"
#include "pep/tcp/endpoint.h"

namespace satrelay::tcp::test {

struct ChannelFaults {
  double loss = 0;
  double duplication = 0;
  Duration delay = Duration::microseconds(200);
  Duration jitter;  // reorders segments
};

// How one host's application behaves.
struct Application {
  std::uint64_t bytes_to_send = 0;
  std::uint64_t read_size = 65'536;  // at most, a turn
  Duration read_pause;               // between turns
  bool closes_last = false;          // only after the peer has finished
};

struct Scenario {
  Config config[2];
  Application application[2];
  ChannelFaults faults[2];  // [0]: from host 0 to host 1
  wire::TcpOptions offer;
  std::size_t block_size[2] = {4096, 4096};
  std::size_t blocks[2] = {1024, 1024};
  Duration deadline = Duration::seconds(600);
  int aborting_host = -1;  // -1: no host aborts
  Duration abort_after;
  double rewritten = 0;  // share of the turns before which the endpoint is made anew from its image
};

Scenario random_scenario(std::uint64_t seed);

struct Result {
  std::string failure;  // empty: all went well
  Duration took;        // until both applications had finished
  std::uint64_t segments = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t resets = 0;  // hosts that the other host has reset
  std::uint64_t rewrites = 0;
  std::uint64_t digest = 0;  // of all segments, with their times
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, std::uint64_t seed);
  Result run();
  const Endpoint& endpoint(int host) const { return *hosts_[host].endpoint; }

 private:
  struct Host {
    std::vector<std::byte> memory;
    std::unique_ptr<Arena> arena;
    Counters counters;
    std::unique_ptr<Endpoint> endpoint;
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::uint64_t promised_edge = 0;  // highest right edge announced to the peer
    Instant next_read;
  };
  struct Packet {
    Instant at;
    std::uint64_t order;
    int to;
    std::vector<std::byte> bytes;
    bool operator<(const Packet& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void turn(int index);
  void rewrite(int index);
  void transmit(int index);
  void send(int from, const std::vector<std::byte>& bytes);
  void deliver(const Packet& packet);
  Instant next_event() const;
  bool application_done(int index) const;
  void judge_end(Result& result);
  void fail(const std::string& what);

  const Scenario& scenario_;
  Random random_;
  Host hosts_[2];
  std::priority_queue<Packet> channel_;
  std::uint64_t order_ = 0;
  Instant now_ = Instant::from_nanoseconds(5'000'000'000);
  Instant abort_at_ = Instant::never();
  bool accepted_ = false;
  Random rewriting_;
  std::uint64_t rewrites_ = 0;
  std::uint64_t digest_ = 0;
  std::vector<std::byte> scratch_;
  std::string failure_;
};

}  // namespace satrelay::tcp::test
