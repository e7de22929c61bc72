// What HELLOs may cost a worker, whoever sends them and to however many of its sessions: all of
// these share one (docs/security.md, "Limits of what anybody may cause").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/connection/turns.h"

namespace satrelay::stp {

class HelloBudget {
 public:
  // Offers of peers that a MAC shows to be genuine. Each takes hashes, and our answer two or three
  // multiplications on the curve: some 150 us.
  static constexpr Turns::Pace kOffers = {Duration::milliseconds(20), 128,
                                          Duration::milliseconds(1)};
  // HELLOs without a MAC, as older builds send them.
  static constexpr Turns::Pace kWithoutMac = {Duration::milliseconds(20), 16,
                                              Duration::milliseconds(1)};
  // Our own HELLOs that nobody with the secret has asked for, and repeated CLOSEs.
  static constexpr Turns::Pace kOurs = {Duration::milliseconds(5), 64, Duration::zero()};
  // Our answers to acceptances of our offers, which have no turn when they are read. Each may bring
  // the next offer, and that the next acceptance: some 150 us together.
  static constexpr Turns::Pace kAnswers = {Duration::milliseconds(10), 128, Duration::zero()};
  // A peer that has proved to send MACs is not believed to be an older build for so long.
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

  // A peer whose HELLOs have MACs is there now: proved by more than an old HELLO.
  void on_mac_proved(std::uint32_t peer, Instant now) { proved_[peer] = now; }
  bool expects_mac(std::uint32_t peer, Instant now) const {
    return now < proved_[peer] + kMacExpected;
  }

 private:
  std::vector<Instant> proved_;
};

}  // namespace satrelay::stp
