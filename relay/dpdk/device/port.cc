#include "relay/dpdk/device/port.h"

#include <stdexcept>
#include <utility>

#include "relay/dpdk/device/device_arguments.h"

namespace satrelay::dpdk {
namespace {

// Returns the name of the device for the log.
const std::string& device_name(const config::Port& config) {
  switch (config.driver) {
    case config::Driver::kAfPacket:
    case config::Driver::kAfXdp:
      break;
    case config::Driver::kMemif:
      return config.socket;
    case config::Driver::kPci:
      return config.pci;
  }
  return config.interface;
}

std::string text_of(const std::string& name, const config::Port& config) {
  return name + ": " + describe(config);
}

std::unique_ptr<Device> opened(const std::string& name, const config::Port& config,
                               PacketPool& pool, const Spread& spread) {
  try {
    return open_device(name, config, pool, spread);
  } catch (const std::exception& error) {
    throw std::runtime_error("port " + text_of(name, config) + ": " + error.what());
  }
}

}  // namespace

Port::Port(const std::string& name, const config::Port& config, PacketPool& pool,
           const Spread& spread)
    : Port(name, config, opened(name, config, pool, spread)) {}

Port::Port(const std::string& name, const config::Port& config, std::unique_ptr<Device> device)
    : name_(name),
      config_(config),
      device_(std::move(device)),
      tx_down_(device_->queues()),
      watch_(device_name(config)) {
  const InterfaceView view = device_->view();
  link_ = LinkState{.up = view.is_running, .gone = !view.is_there, .megabits = view.megabits};
}

std::string Port::description() const { return text_of(name_, config_); }

std::size_t Port::send(Burst& burst, unsigned queue) {
  const std::size_t offered = burst.size();
  if (offered == 0) return 0;
  if (is_off_.load(std::memory_order_relaxed)) [[unlikely]] {
    tx_down_[queue] += burst.clear();
    return offered;
  }
  return device_->send(burst, queue);
}

void Port::bind_to_successor(Instant now) {
  try {
    device_->bind_to_successor();
    watch_.bound();
  } catch (const std::exception& error) {
    watch_.could_not_bind(error.what(), now);
  }
}

InterfaceView Port::view(Instant now) {
  InterfaceView found = device_->view();
  if (!found.has_successor || !prepare_ || now < next_preparation_) return found;
  next_preparation_ = now + Duration::seconds(1);
  prepare_();
  return device_->view();
}

std::vector<PortChange> Port::look(Instant now) {
  InterfaceView view = this->view(now);
  if (watch_.look(view, now) == InterfaceWatch::Next::kBind) {
    bind_to_successor(now);
    view = device_->view();
    watch_.look(view, now);
  }
  if (view.is_running && !link().up) device_->on_up();
  link_ = LinkState{.up = view.is_running, .gone = watch_.is_gone(), .megabits = view.megabits};
  const bool is_unplugged = device_->facts().keeps_frames && !view.is_running;
  is_off_ = watch_.is_gone() || !view.is_enabled || is_unplugged;
  needs_new_start_ = watch_.needs_new_start();
  return watch_.take_changes();
}

PortStats Port::queue_stats(unsigned queue) const {
  PortStats stats = device_->queue_stats(queue);
  stats.tx_down += tx_down_[queue];
  return stats;
}

PortStats Port::stats() const {
  PortStats stats = device_stats();
  for (unsigned i = 0; i < queues(); ++i) add_to(stats, queue_stats(i));
  return stats;
}

}  // namespace satrelay::dpdk
