// Of how many frames an interface takes a large one, as a rule.
//
// A kernel before 6.2 knows no UDP_L4 in a packet socket (EINVAL). A network card that cannot cut,
// or not behind VLAN tags, or not so much at once, is not told apart from one that is merely busy:
// each refuses the frame (ENOBUFS). So a refusal halves what is tried, down to single frames, and
// after a while twice as much is tried again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class LargeSendKinds {
 public:
  // Frames that leave, of a kind that was refused, until more is tried: a trial that fails costs
  // one call that sends nothing.
  static constexpr std::uint32_t kTrial = 65'536;

  struct Kind {
    bool is_tcp = false;
    bool is_v4 = false;
    std::size_t tags = 0;  // VLAN, at most 2
  };

  // Frames of which one may be made; 1: none is.
  std::size_t most(const Kind& kind) const { return state(kind).most; }
  // So many frames of the kind have left, large or not.
  void on_sent(const Kind& kind, std::size_t frames) {
    State& now_is = state(kind);
    if (now_is.most == kAll || now_is.is_unknown) return;
    now_is.sent += static_cast<std::uint32_t>(frames);
    if (now_is.sent < kTrial) return;
    now_is = {.most = std::min(2 * now_is.most, kAll)};
  }
  // The kernel has no word for it.
  void on_unknown(const Kind& kind) { state(kind) = {.most = 1, .is_unknown = true}; }
  // One of so many frames was refused.
  void on_refused(const Kind& kind, std::size_t frames) {
    State& now_is = state(kind);
    now_is.most = std::max<std::size_t>(std::min(now_is.most, frames) / 2, 1);
    now_is.sent = 0;
  }
  // Another interface, or one that has come up.
  void forget() { states_ = {}; }

 private:
  static constexpr std::size_t kTags = 3;
  static constexpr std::size_t kAll = 1024;  // more than ever come together
  struct State {
    std::size_t most = kAll;
    std::uint32_t sent = 0;  // since it was refused
    bool is_unknown = false;
  };
  static std::size_t index(const Kind& kind) {
    return (kind.is_tcp ? 2U * kTags : 0U) + (kind.is_v4 ? kTags : 0U) + kind.tags;
  }
  State& state(const Kind& kind) { return states_[index(kind)]; }
  const State& state(const Kind& kind) const { return states_[index(kind)]; }

  std::array<State, 4 * kTags> states_{};
};

}  // namespace satrelay::dpdk
