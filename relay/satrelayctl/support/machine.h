// Describes a machine, from /proc and /sys, as text for support: processor, NUMA nodes, memory,
// hugepages, cores that are set aside, network interfaces and PCI network cards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace satrelay::ctl {

// `root` has proc/, sys/ and etc/. Missing values are shown as "-".
std::string describe_machine(const std::filesystem::path& root);
// Returns a text like "Debian GNU/Linux 12 (bookworm)".
std::string operating_system(const std::filesystem::path& root);
// The first function returns the network interfaces except the loopback, sorted. The second
// describes an interface.
std::vector<std::string> network_interfaces(const std::filesystem::path& root);
std::string describe_interface(const std::filesystem::path& root, const std::string& name);
// Describes the network cards on the PCI bus, including cards that DPDK has taken from the kernel.
std::string describe_cards(const std::filesystem::path& root);

}  // namespace satrelay::ctl
