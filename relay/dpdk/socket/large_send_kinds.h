// Learns how many frames may be joined into one large frame that the interface accepts. Makes no
// system calls.
//
// A kernel before 6.2 does not accept large UDP frames (UDP_L4) from a packet socket: it returns
// EINVAL. Some network cards cannot cut large frames, cannot cut them behind VLAN tags, or cannot
// cut them into so many frames. Such a card refuses the frame with ENOBUFS. But a card that is only
// busy returns the same error. So after each refusal, half as many frames are joined, down to one.
// After kTrial frames, twice as many are joined again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class LargeSendKinds {
 public:
  // After a refusal, this number of frames is sent before more frames are joined again. If the card
  // refuses again, this costs one system call that sends nothing.
  static constexpr std::uint32_t kTrial = 65'536;

  struct Kind {
    bool is_tcp = false;
    bool is_v4 = false;
    std::size_t tags = 0;  // number of VLAN tags, at most 2
  };

  // Maximum number of frames that may be joined into one large frame. 1 means that frames must not
  // be joined.
  std::size_t most(const Kind& kind) const { return state(kind).most; }
  // Call this when `frames` frames of the kind have been sent. It makes no difference whether they
  // were joined.
  void on_sent(const Kind& kind, std::size_t frames) {
    State& now_is = state(kind);
    if (now_is.most == kAll || now_is.is_unknown) return;
    now_is.sent += static_cast<std::uint32_t>(frames);
    if (now_is.sent < kTrial) return;
    now_is = {.most = std::min(2 * now_is.most, kAll)};
  }
  // Call this if the kernel does not know this kind of large frame.
  void on_unknown(const Kind& kind) { state(kind) = {.most = 1, .is_unknown = true}; }
  // Call this if the device has refused a large frame of `frames` frames.
  void on_refused(const Kind& kind, std::size_t frames) {
    State& now_is = state(kind);
    now_is.most = std::max<std::size_t>(std::min(now_is.most, frames) / 2, 1);
    now_is.sent = 0;
  }
  // Call this if the port now uses another interface, or if the interface has come up.
  void forget() { states_ = {}; }

 private:
  static constexpr std::size_t kTags = 3;
  // No limit: larger than any number of frames that are joined.
  static constexpr std::size_t kAll = 1024;
  struct State {
    std::size_t most = kAll;
    std::uint32_t sent = 0;  // frames sent since `most` last changed
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
