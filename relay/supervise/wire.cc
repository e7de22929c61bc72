#include "relay/supervise/wire.h"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "relay/kernel/kernel_interface.h"
#include "relay/ops/log/log.h"

namespace satrelay::supervise {
namespace {

bool is_kernel_interface(const config::Port& port) {
  return port.driver == config::Driver::kAfPacket || port.driver == config::Driver::kAfXdp;
}

std::filesystem::path mtu_file(const config::Port& port) {
  return ops::port_file(port.interface, ".mtu");
}

}  // namespace

Wire::Wire(const config::Outline& ports) : ports_{ports.lan, ports.wan} {
  if (is_kernel_interface(ports.lan) && is_kernel_interface(ports.wan)) {
    bridge_.emplace(ports.lan.interface, ports.wan.interface);
  }
}

void Wire::lock() {
  for (const config::Port& port : ports_) {
    if (is_kernel_interface(port)) locks_.emplace_back(port.interface);
  }
}

void Wire::pass_on_locks() const {
  for (const ops::PortLock& lock : locks_) lock.pass_on();
}

void Wire::detach_xdp() const {
  kernel::Rtnetlink kernel;
  for (const config::Port& port : ports_) {
    if (port.driver != config::Driver::kAfXdp) continue;
    try {
      if (const auto facts = kernel.find(port.interface)) kernel.detach_xdp(facts->index);
    } catch (const std::exception& error) {
      ops::log_warning("the gateway's program stays on " + port.interface + ": " + error.what());
    }
  }
}

bool Wire::join() {
  if (!bridge_) return false;
  detach_xdp();
  const std::string names = ports_[0].interface + " and " + ports_[1].interface;
  try {
    if (bridge_->is_joined()) return true;
    bridge_->join();
    ops::log_info(names + " are joined");
    return true;
  } catch (const std::exception& error) {
    ops::log_error("cannot join " + names + ": " + error.what());
    return false;
  }
}

void Wire::part() {
  if (bridge_ && bridge_->part()) {
    ops::log_info(ports_[0].interface + " and " + ports_[1].interface + " are no longer joined");
  }
}

void Wire::remember_mtus() const {
  kernel::Rtnetlink kernel;
  for (const config::Port& port : ports_) {
    if (!is_kernel_interface(port)) continue;
    const auto facts = kernel.find(port.interface);
    const std::filesystem::path file = mtu_file(port);
    if (facts && !std::filesystem::exists(file)) std::ofstream(file) << facts->mtu << '\n';
  }
}

void Wire::put_mtus_back() const {
  kernel::Rtnetlink kernel;
  for (const config::Port& port : ports_) {
    if (!is_kernel_interface(port)) continue;
    try {
      const std::filesystem::path file = mtu_file(port);
      unsigned mtu = 0;
      const bool is_known = static_cast<bool>(std::ifstream(file) >> mtu);
      ::unlink(file.c_str());
      const auto facts = kernel.find(port.interface);
      if (!is_known || !facts || facts->mtu == mtu) continue;
      kernel.set_mtu(facts->index, mtu);
      ops::log_info("interface " + port.interface + ": MTU " + std::to_string(mtu) + " again");
    } catch (const std::exception& error) {
      ops::log_warning("cannot put back the MTU of " + port.interface + ": " + error.what());
    }
  }
}

std::string Wire::prepare(const std::string& port) const {
  if (port != "lan" && port != "wan") return "no such port";
  const config::Port& wanted = ports_[port == "lan" ? 0 : 1];
  if (!is_kernel_interface(wanted)) return "the port is no kernel interface";
  try {
    kernel::Rtnetlink kernel;
    const auto facts = kernel.find(wanted.interface);
    if (facts && facts->master != 0) return wanted.interface + " belongs to another device";
    kernel::KernelInterface(wanted.interface).prepare(wanted.mtu);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace satrelay::supervise
