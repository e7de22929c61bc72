// Describes a machine as text for support: processor, NUMA nodes, memory, hugepages, isolated
// cores, network interfaces and PCI network cards. The data come from /proc and /sys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace satrelay::ctl {

// Returns the first line of a file of the kernel, or "-" if the file is missing or empty.
std::string line_of(const std::filesystem::path& file);
// Returns the name of a symbolic link's target, which is a driver or an IOMMU group, or "-".
std::string target_of(const std::filesystem::path& link);
// `root` is a folder with proc/, sys/ and etc/. A missing value is shown as "-".
std::string describe_machine(const std::filesystem::path& root);
// Returns the name of the system, such as "Debian GNU/Linux 12 (bookworm)".
std::string operating_system(const std::filesystem::path& root);
// network_interfaces() returns the names of all network interfaces except the loopback, sorted.
// describe_interface() describes one of them.
std::vector<std::string> network_interfaces(const std::filesystem::path& root);
std::string describe_interface(const std::filesystem::path& root, const std::string& name);
// Describes the network cards on the PCI bus, including cards that DPDK uses instead of the kernel.
std::string describe_cards(const std::filesystem::path& root);

}  // namespace satrelay::ctl
