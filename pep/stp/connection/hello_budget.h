// Limits what HELLOs cost a worker, whatever their senders and however many of its sessions they
// reach. All sessions of the worker share one budget (docs/security.md, "Limits of what anybody may
// cause").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/connection/turns.h"

namespace satrelay::stp {

class HelloBudget {
 public:
  // Offers with a good MAC. Each takes hashes, and our answer takes two or three multiplications on
  // the curve: some 150 us.
  static constexpr Turns::Pace kOffers = {Duration::milliseconds(20), 128,
                                          Duration::milliseconds(1)};
  // HELLOs without a MAC, as older builds send them.
  static constexpr Turns::Pace kWithoutMac = {Duration::milliseconds(20), 16,
                                              Duration::milliseconds(1)};
  // Our own HELLOs that answer no holder of the secret, and repeated CLOSEs.
  static constexpr Turns::Pace kOurs = {Duration::milliseconds(5), 64, Duration::zero()};
  // Our answers to acceptances of our offers. Acceptances need no turn to be read. Each may bring
  // the peer's next offer, and our answer to that another acceptance: some 150 us together.
  static constexpr Turns::Pace kAnswers = {Duration::milliseconds(10), 128, Duration::zero()};
  // For this time, a peer that has proved to send MACs is not taken for an older build.
  static constexpr Duration kMacExpected = Duration::seconds(600);

  explicit HelloBudget(std::size_t peers)
      : offers(peers, kOffers),
        without_mac(peers, kWithoutMac),
        ours(peers, kOurs),
        answers(peers, kAnswers),
        proved_(peers, Instant() - kMacExpected) {}

  Turns offers;
  Turns without_mac;
  Turns ours;
  Turns answers;

  // The peer's HELLOs have MACs, and the peer is there now: more than an old HELLO has proved it.
  void on_mac_proved(std::uint32_t peer, Instant now) { proved_[peer] = now; }
  bool expects_mac(std::uint32_t peer, Instant now) const {
    return now < proved_[peer] + kMacExpected;
  }

 private:
  std::vector<Instant> proved_;
};

}  // namespace satrelay::stp
