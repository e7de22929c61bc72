// Prepares a kernel interface for use as a port. An inline bridge must receive every frame as it
// was on the wire, and the kernel itself must not answer any frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/address.h"

namespace satrelay::kernel {

class KernelInterface {
 public:
  // Throws std::runtime_error if there is no such interface (in this network namespace).
  explicit KernelInterface(const std::string& name);
  KernelInterface(const KernelInterface&) = delete;
  KernelInterface& operator=(const KernelInterface&) = delete;
  ~KernelInterface();

  struct Preparation {
    std::vector<std::string> notices;  // for each failure, what the operator can do
    std::vector<std::string> changes;  // changes that outlive this process
  };
  // Sets the MTU (with room for two VLAN tags), switches off the receive offloads that merge
  // frames, keeps the kernel's IP stack off the interface and brings it up. Throws if the port
  // cannot work.
  Preparation prepare(std::uint16_t mtu);

  // Returns the reasons why a port with this MTU cannot use the interface in its current state.
  // prepare() would correct the state, but needs rights that this process may have given up.
  std::vector<std::string> objections(std::uint16_t mtu) const;

  unsigned index() const { return index_; }
  MacAddress mac() const;
  std::uint16_t mtu() const;
  bool is_enabled() const;         // administratively up (`ip link set up`)
  bool is_running() const;         // operationally up: enabled, with a carrier
  std::uint32_t megabits() const;  // speed in Mbit/s; 0 if it is unknown
  bool is_half_duplex() const;     // false if the interface does not report it

  // "an IPv4 address" or "an IPv6 address" that the kernel has on the interface; empty if none.
  std::string addresses() const;

  // Names of the receive offloads that merge frames and are switched on, as `ethtool -k` prints
  // them.
  std::vector<std::string> active_merge_offloads() const;

 private:
  bool has_flag(unsigned flag) const;
  bool try_mtu(unsigned mtu);
  void set_mtu(std::uint16_t mtu, std::vector<std::string>& changes);
  void disable_merge_offloads(std::vector<std::string>& notices);
  void keep_kernel_off(std::vector<std::string>& notices);
  void bring_up();

  std::string name_;
  int socket_;
  unsigned index_;
};

// The name of the interface `index` in this network namespace; empty if there is none.
std::string interface_name(unsigned index);

// Returns a notice if the kernel's queue for received frames is shorter than a burst of a fast
// link.
std::vector<std::string> check_kernel_backlog();

}  // namespace satrelay::kernel
