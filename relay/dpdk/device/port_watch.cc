#include "relay/dpdk/device/port_watch.h"

#include <algorithm>
#include <utility>

#include "relay/dpdk/loop/clock.h"

namespace satrelay::dpdk {

PortWatch::PortWatch(std::span<Port* const> ports, Tell tell)
    : ports_(ports.begin(), ports.end()),
      tell_(std::move(tell)),
      thread_("ports", kInterval, [this] { look(); }) {}

void PortWatch::look() {
  for (Port* port : ports_) {
    for (const PortChange& change : port->look(now())) tell_(*port, change);
  }
}

bool PortWatch::needs_new_start() const {
  return std::ranges::any_of(ports_, [](const Port* port) { return port->needs_new_start(); });
}

std::string to_text(const Port& port, const PortChange& change) {
  std::string subject = "port " + port.name() + ": " + change.detail;
  switch (change.kind) {
    case PortChangeKind::kUp:
      return subject + " is up";
    case PortChangeKind::kDown:
      return subject + "; nothing passes there";
    case PortChangeKind::kGone:
      return subject + " is gone; nothing passes there until it is back";
    case PortChangeKind::kReturned:
      return subject +
             " is back, and the port is bound to it; only a restart of the gateway keeps the "
             "kernel's own traffic off it, as at the start";
    case PortChangeKind::kRenamed:
      return subject + ", the port still uses it; the configuration has the old name";
    case PortChangeKind::kUnfit:
      return subject + ": only a restart of the gateway can correct this";
  }
  return subject;
}

}  // namespace satrelay::dpdk
