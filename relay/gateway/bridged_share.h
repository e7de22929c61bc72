// Whose turn a carrier is: bridged frames' or relayed streams'. Start-time fair queueing (Goyal,
// Vin and Cheng, SIGCOMM '96) between two classes: while both wait, each gets its share to within a
// packet; who had nothing to send is owed nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace satrelay::gateway {

class BridgedShare {
 public:
  // `share`: of bridged frames, between 0 and 1.
  explicit BridgedShare(double share)
      : bridged_permille_(std::clamp<std::uint64_t>(
            static_cast<std::uint64_t>(std::lround(share * 1000)), 1, 999)) {}

  // While both wait. The smaller start tag is served first; equal ones favour what cannot be sent
  // again.
  bool bridged_has_turn() const { return bridged_start_ <= relayed_start_; }

  // To be told of all that leaves, in bytes as the carrier counts them.
  void on_bridged(std::uint64_t bytes) {
    serve(bridged_start_, relayed_start_, bytes * (1000 - bridged_permille_));
  }
  void on_relayed(std::uint64_t bytes) {
    serve(relayed_start_, bridged_start_, bytes * bridged_permille_);
  }

 private:
  // Tags are kept relative to virtual time, the start tag of the packet served last: so they stay
  // small, and a class that was idle begins at virtual time. The finish tag of a packet, start +
  // length / weight, is the next start tag of its class; times both weights, nothing is divided.
  static void serve(std::uint64_t& served, std::uint64_t& other, std::uint64_t cost) {
    other -= std::min(other, served);
    served = cost;
  }

  std::uint64_t bridged_permille_;
  std::uint64_t bridged_start_ = 0;
  std::uint64_t relayed_start_ = 0;
};

}  // namespace satrelay::gateway
