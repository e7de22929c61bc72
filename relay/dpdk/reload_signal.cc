#include "relay/dpdk/reload_signal.h"

#include <csignal>

namespace satrelay::dpdk {
namespace {

volatile std::sig_atomic_t reload_requested = 0;

void on_signal(int) { reload_requested = 1; }

}  // namespace

void ReloadSignal::install() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGHUP, &action, nullptr);
}

bool ReloadSignal::take() {
  if (reload_requested == 0) return false;
  reload_requested = 0;
  return true;
}

}  // namespace satrelay::dpdk
