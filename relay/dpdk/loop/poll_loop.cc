#include "relay/dpdk/loop/poll_loop.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>

#include "pep/base/check.h"
#include "relay/dpdk/device/port.h"

namespace satrelay::dpdk {
namespace {

// How long a loop counts as active after its last work. It is longer than 1 ms, the interval at
// which links are divided among workers, so that a worker takes part in one more division after its
// last work.
constexpr Duration kActiveFor = Duration::microseconds(1'250);
constexpr Duration kMediumNap = Duration::microseconds(250);
constexpr Duration kQuietAfter = Duration::milliseconds(200);
constexpr Duration kLongNap = Duration::milliseconds(1);
// A stop signal ends the wait of the thread that handles the signal. If another thread handles the
// signal, or the signal arrives just before the wait begins, the wait goes on until the next frame
// or timeout. So waits are limited.
constexpr Duration kLongestWait = Duration::milliseconds(250);

timespec to_timespec(Duration d) {
  const std::int64_t n = d.to_nanoseconds();
  return {.tv_sec = n / 1'000'000'000, .tv_nsec = n % 1'000'000'000};
}

bool all_can_wake(std::span<Port* const> ports, unsigned queue) {
  return std::ranges::all_of(ports, [&](const Port* port) {
    return queue >= port->queues() || port->wait_descriptor(queue).has_value();
  });
}

}  // namespace

Pause IdlePolicy::pause(Instant now, Instant next_timeout) const {
  if (polling_ == config::Polling::kBusy || next_timeout <= now) return {};
  const Duration idle = now - last_work_;
  Pause pause;
  if (idle < kActiveFor) {
    pause = {Pause::Kind::kNap, kShortNap};
  } else if (ports_can_wake_) {
    pause = {Pause::Kind::kWait, kLongestWait};
  } else {
    pause = {Pause::Kind::kNap, idle < kQuietAfter ? kMediumNap : kLongNap};
  }
  // A pacer computes a time for each frame. But pauses shorter than a short nap would cost more
  // work than the frames, so all frames that are due within a short nap are sent together.
  pause.length = std::min(pause.length, std::max(next_timeout - now, kShortNap));
  return pause;
}

PollLoop::PollLoop(config::Polling polling, std::span<Port* const> ports, unsigned queue)
    : policy_(polling, all_can_wake(ports, queue)) {
  for (const Port* port : ports) {
    if (queue >= port->queues()) continue;
    if (const auto descriptor = port->wait_descriptor(queue)) watch(*descriptor);
  }
  // By default the kernel delays timers by up to 50 us, to handle several timers together. Naps of
  // 50 us would then take up to 100 us.
  ::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
}

void PollLoop::watch(int descriptor) {
  SATRELAY_CHECK(descriptor_count_ < kMaxDescriptors);
  descriptors_[descriptor_count_++] = {.fd = descriptor, .events = POLLIN, .revents = 0};
}

void PollLoop::unwatch(int descriptor) {
  const auto end = descriptors_.begin() + static_cast<std::ptrdiff_t>(descriptor_count_);
  const auto found =
      std::find_if(descriptors_.begin(), end, [&](const pollfd& p) { return p.fd == descriptor; });
  if (found == end) return;
  std::move(found + 1, end, found);
  --descriptor_count_;
}

bool PollLoop::idle(Instant now, Instant next_timeout) {
  const Pause pause = policy_.pause(now, next_timeout);
  switch (pause.kind) {
    case Pause::Kind::kNone:
      return false;
    case Pause::Kind::kNap: {
      const timespec length = to_timespec(pause.length);
      ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
      break;
    }
    case Pause::Kind::kWait:
      wait(pause.length);
      break;
  }
  last_rest_ = std::min(pause.length, dpdk::now() - now);
  return true;
}

void PollLoop::wait(Duration length) {
  const timespec limit = to_timespec(length);
  if (::ppoll(descriptors_.data(), descriptor_count_, &limit, nullptr) <= 0) return;
  for (std::size_t i = 0; i < descriptor_count_; ++i) {
    if ((descriptors_[i].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0) continue;
    // An interface that goes down leaves an error on its socket: reading the error clears it. The
    // nap keeps a lasting error from turning this into a busy loop.
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptors_[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
    const timespec pause = to_timespec(std::min(length, kLongNap));
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
}

}  // namespace satrelay::dpdk
