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

// A gateway sets the MTU of the file, with room for two VLAN tags if the interface allows it.
bool is_of_gateway(unsigned mtu, const config::Port& port) {
  return mtu == port.mtu || mtu == port.mtu + 8U;
}

std::filesystem::path mtu_file(const config::Port& port) {
  return ops::port_file(port.interface, ".mtu");
}

}  // namespace

Wire::Wire(const config::Outline& ports)
    : ports_{ports.lan, ports.wan}, lan_follows_wan_(ports.lan_follows_wan) {
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
  for (const config::Port& port : ports_) {
    if (port.driver != config::Driver::kAfXdp) continue;
    try {
      kernel::Rtnetlink kernel;
      if (const auto facts = kernel.find(port.interface)) kernel.detach_xdp(facts->index);
    } catch (const std::exception& error) {
      ops::log_warning("the gateway's program stays on " + port.interface + ": " + error.what());
    }
  }
}

void Wire::warn_of_firewall() const {
  for (const char* tables : {"iptables", "ip6tables", "arptables"}) {
    const std::string path = std::string("/proc/sys/net/bridge/bridge-nf-call-") + tables;
    int is_on = 0;
    if (!(std::ifstream(path) >> is_on) || is_on == 0) continue;
    ops::log_warning(path + " is 1: the firewall of this machine filters the joined ports");
  }
}

bool Wire::join() {
  if (!bridge_) return false;
  detach_xdp();
  const std::string names = ports_[0].interface + " and " + ports_[1].interface;
  try {
    if (bridge_->is_joined()) return true;
    bridge_->join();
    last_failure_.clear();
    ops::log_info(names + " are joined");
    warn_of_firewall();
    return true;
  } catch (const std::exception& error) {
    if (last_failure_ != error.what()) {
      ops::log_error("cannot join " + names + ": " + error.what());
    }
    last_failure_ = error.what();
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
    const bool may_be_changed = facts && is_of_gateway(facts->mtu, port);
    if (!facts || (may_be_changed && std::filesystem::exists(file))) continue;
    std::ofstream(file) << facts->mtu << '\n';
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
      if (!is_known || !facts || facts->mtu == mtu || !is_of_gateway(facts->mtu, port)) continue;
      kernel.set_mtu(facts->index, mtu);
      ops::log_info("interface " + port.interface + ": MTU " + std::to_string(mtu) + " again");
    } catch (const std::exception& error) {
      ops::log_warning("cannot put back the MTU of " + port.interface + ": " + error.what());
    }
  }
}

void Wire::switch_lan(bool on) const {
  const std::string& name = ports_[0].interface;
  if (!lan_follows_wan_ || name.empty()) return;
  try {
    kernel::Rtnetlink kernel;
    const auto facts = kernel.find(name);
    if (!facts || facts->is_up == on) return;
    kernel.set_up(facts->index, on);
    ops::log_warning(on ? "port wan has a link again: " + name + " is switched on"
                        : "port wan has no link: " + name + " is switched off, too");
  } catch (const std::exception& error) {
    ops::log_error("cannot switch " + name + (on ? " on: " : " off: ") + error.what());
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
