#include "relay/dpdk/loop/stop_signal.h"

#include <atomic>
#include <csignal>

namespace satrelay::dpdk {
namespace {

// The kernel may deliver the signal to any thread, and all threads read the flag.
std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "or a signal handler may not write it");

void on_stop(int) { stop_requested.store(true, std::memory_order_relaxed); }

}  // namespace

void StopSignal::install() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a wait ends at once
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

bool StopSignal::requested() { return stop_requested.load(std::memory_order_relaxed); }

void StopSignal::request() { stop_requested.store(true, std::memory_order_relaxed); }

}  // namespace satrelay::dpdk
