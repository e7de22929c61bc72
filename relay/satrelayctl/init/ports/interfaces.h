// The network interfaces and cards of this machine, as an operator chooses ports from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "relay/machine/interface_addresses.h"
#include "relay/satrelayctl/init/ports/traffic.h"

namespace satrelay::ctl::init {

struct Interface {
  std::string name;
  std::string driver;  // "-" if unknown, as for interfaces without hardware
  std::string device;  // the PCI address, or "-"
  std::string mac;
  std::string state;   // as the kernel says: up, down, lowerlayerdown, unknown
  std::string speed;   // in Mbit/s, or "-"
  std::string master;  // bridge or bond that it belongs to, or "-"
  std::uint32_t mtu = 0;
  std::vector<std::string> addresses;
  // The interface itself, or an interface on top of it such as a bridge, has the default route or
  // an ssh session.
  bool has_default_route = false;
  bool has_ssh_session = false;
  std::optional<Traffic> traffic;  // nullopt if the program has not looked

  // Whether a gateway on this interface would cut this machine off.
  bool is_used() const { return has_default_route || has_ssh_session; }
  // "the default route and an ssh session", or "" if it is not used.
  std::string use() const;
};

// A network card that a gateway can drive by itself, such as one that is bound to vfio-pci.
struct Card {
  std::string address;
  std::string driver;
};

struct Machine {
  std::string host_name;
  std::vector<Interface> interfaces;  // without the loopback
  std::vector<Card> cards;

  const Interface* find(const std::string& name) const;
  bool has_card(const std::string& address) const;
};

// `root` is a folder with proc/ and sys/.
Machine read_machine(const std::filesystem::path& root,
                     const machine::InterfaceAddresses& addresses);

}  // namespace satrelay::ctl::init
