#include "relay/satrelayd/workers/safepoint.h"

#include <ctime>
#include <utility>

#include "relay/dpdk/loop/clock.h"

namespace satrelay::satrelayd {
namespace {

void pause_a_little() {
  const timespec length{.tv_sec = 0, .tv_nsec = 20'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

}  // namespace

Safepoint::Safepoint(unsigned followers, std::function<void(unsigned)> wake, Duration patience)
    : followers_(followers),
      wake_(std::move(wake)),
      patience_(patience),
      heeded_(std::make_unique<std::atomic<std::uint64_t>[]>(followers)) {}

bool Safepoint::heed(unsigned follower) {
  for (bool stood = false;; stood = true) {
    const std::uint64_t request = request_.load(std::memory_order_acquire);
    if (request % 2 == 0) return stood;
    heeded_[follower].store(request, std::memory_order_release);
    request_.wait(request, std::memory_order_acquire);
  }
}

void Safepoint::leave(unsigned follower) {
  heeded_[follower].store(kAll, std::memory_order_release);
}

bool Safepoint::stop() {
  request_.fetch_add(1, std::memory_order_acq_rel);
  for (unsigned i = 0; i < followers_; ++i) wake_(i);
  const Instant give_up = dpdk::now() + (is_one_missing_ ? kLittlePatience : patience_);
  while (!all_stand() && dpdk::now() < give_up) pause_a_little();
  is_one_missing_ = !all_stand();
  return !is_one_missing_;
}

void Safepoint::let_go() {
  request_.fetch_add(1, std::memory_order_acq_rel);
  request_.notify_all();
}

bool Safepoint::all_stand() const {
  const std::uint64_t request = request_.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < followers_; ++i) {
    const std::uint64_t heeded = heeded_[i].load(std::memory_order_acquire);
    if (heeded != request && heeded != kAll) return false;
  }
  return true;
}

}  // namespace satrelay::satrelayd
