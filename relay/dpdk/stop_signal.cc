#include "relay/dpdk/stop_signal.h"

#include <csignal>

namespace satrelay::dpdk {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int) { stop_requested = 1; }

}  // namespace

void StopSignal::install() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a wait ends at once
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

bool StopSignal::requested() { return stop_requested != 0; }

void StopSignal::request() { stop_requested = 1; }

}  // namespace satrelay::dpdk
