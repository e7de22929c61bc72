#include "relay/dpdk/loop/clock.h"

#include <ctime>

namespace satrelay::dpdk {
namespace {

std::int64_t monotonic_nanoseconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

const std::int64_t kProcessStart = monotonic_nanoseconds();

}  // namespace

Instant now() { return Instant::from_nanoseconds(monotonic_nanoseconds() - kProcessStart); }

}  // namespace satrelay::dpdk
