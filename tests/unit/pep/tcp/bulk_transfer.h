// A transfer in one direction at full speed between two endpoints, without a simulated application.
// For tests that need many bytes, or that allow no allocation besides those of the endpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/random.h"
#include "tests/unit/pep/tcp/simulation.h"

namespace satrelay::tcp::test {

class BulkTransfer {
 public:
  BulkTransfer(const Scenario& scenario, std::uint64_t seed);
  // Sends `bytes` from host 0 to host 1. Returns what went wrong; empty: nothing.
  std::string run(std::uint64_t bytes);

  std::uint64_t retransmissions() const;
  std::uint64_t timeouts() const;
  Endpoint& sender() { return sender_; }
  Endpoint& receiver() { return receiver_; }
  Instant now() const { return now_; }

 private:
  void move(Endpoint& from, Endpoint& to, double loss);

  Random random_;
  std::vector<std::byte> memory_[2];
  Arena arenas_[2];
  Endpoint sender_;
  Endpoint receiver_;
  double loss_[2];
  Duration step_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  std::vector<std::byte> pattern_;  // repeats; its period is no multiple of a block or segment size
  std::vector<std::byte> scratch_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace satrelay::tcp::test
