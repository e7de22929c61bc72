#include "relay/dpdk/loop/reload_signal.h"

#include <atomic>
#include <csignal>

namespace satrelay::dpdk {
namespace {

// The kernel may deliver the signal to any thread.
std::atomic<bool> reload_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "or a signal handler may not write it");

void on_hangup(int) { reload_requested.store(true, std::memory_order_relaxed); }

}  // namespace

void ReloadSignal::install() {
  struct sigaction action {};
  action.sa_handler = on_hangup;
  ::sigaction(SIGHUP, &action, nullptr);
}

bool ReloadSignal::take() {
  return reload_requested.load(std::memory_order_relaxed) &&
         reload_requested.exchange(false, std::memory_order_relaxed);
}

}  // namespace satrelay::dpdk
