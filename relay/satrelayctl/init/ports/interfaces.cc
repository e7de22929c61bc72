#include "relay/satrelayctl/init/ports/interfaces.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "pep/base/address.h"
#include "relay/satrelayctl/support/machine.h"

namespace satrelay::ctl::init {
namespace {

namespace fs = std::filesystem;

// Returns the words of each line of a table of the kernel, without its first line.
std::vector<std::vector<std::string>> rows_of(const fs::path& file, bool has_title) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(file);
  std::string line;
  if (has_title) std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::set<std::string> interfaces_of_default_routes(const fs::path& net) {
  std::set<std::string> names;
  // Columns: interface, destination, gateway, flags, ..., the mask in the eighth.
  for (const auto& row : rows_of(net / "route", true)) {
    if (row.size() > 7 && row[1] == "00000000" && row[7] == "00000000") names.insert(row[0]);
  }
  // Columns: destination, its length, ..., the interface in the last.
  for (const auto& row : rows_of(net / "ipv6_route", false)) {
    const bool is_default =
        row.size() > 9 && row[1] == "00" && row[0].find_first_not_of('0') == std::string::npos;
    if (is_default && row.back() != "lo") names.insert(row.back());
  }
  return names;
}

// Parses the address that the kernel writes as words of four bytes in the order of the processor:
// "0100007F" is 127.0.0.1. IPv4 addresses inside IPv6 become IPv4 addresses.
std::string address_of(std::string_view digits) {
  std::array<std::uint8_t, 16> octets{};
  const std::size_t size = digits.size() / 2;
  if (size != 4 && size != 16) return "";
  for (std::size_t i = 0; i < size; ++i) {
    const std::string_view pair = digits.substr(2 * (i / 4 * 4 + 3 - i % 4), 2);
    octets[i] = static_cast<std::uint8_t>(std::stoul(std::string(pair), nullptr, 16));
  }
  if (size == 4) return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]}).to_string();
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), octets.begin())) {
    return IpAddress::v4({octets[12], octets[13], octets[14], octets[15]}).to_string();
  }
  return IpAddress::v6(octets).to_string();
}

// Returns the addresses of this machine to which ssh sessions are open.
std::set<std::string> addresses_of_ssh_sessions(const fs::path& net) {
  constexpr std::string_view kSshPort = ":0016";
  constexpr std::string_view kEstablished = "01";
  std::set<std::string> addresses;
  for (const char* table : {"tcp", "tcp6"}) {
    // Columns: number, local address, remote address, state.
    for (const auto& row : rows_of(net / table, true)) {
      if (row.size() < 4 || row[3] != kEstablished || !row[1].ends_with(kSshPort)) continue;
      addresses.insert(address_of(std::string_view(row[1]).substr(0, row[1].find(':'))));
    }
  }
  return addresses;
}

// Returns the interfaces on top of this one: a bridge or a bond that it belongs to, and its VLANs.
std::vector<std::string> uppers_of(const fs::path& interface) {
  constexpr std::string_view kUpper = "upper_";
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(interface, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kUpper)) names.push_back(name.substr(kUpper.size()));
  }
  return names;
}

// An interface is used if an interface on top of it is. A bridge may have a bond below it, so the
// loop goes on until nothing changes.
void spread_use(Machine& machine, const fs::path& net) {
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (Interface& each : machine.interfaces) {
      for (const std::string& name : uppers_of(net / each.name)) {
        const Interface* const upper = machine.find(name);
        if (upper == nullptr) continue;
        const bool has_route = each.has_default_route || upper->has_default_route;
        const bool has_session = each.has_ssh_session || upper->has_ssh_session;
        has_changed = has_changed || has_route != each.has_default_route ||
                      has_session != each.has_ssh_session;
        each.has_default_route = has_route;
        each.has_ssh_session = has_session;
      }
    }
  }
}

std::vector<Card> drivable_cards(const fs::path& root) {
  // DPDK drives Nvidia's cards beside the driver of the kernel (docs/hardware.md).
  constexpr std::string_view kDrivers[] = {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core"};
  std::vector<Card> cards;
  std::error_code error;
  for (fs::directory_iterator entry(root / "sys/bus/pci/devices", error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path& card = entry->path();
    std::string driver = target_of(card / "driver");
    if (!line_of(card / "class").starts_with("0x02")) continue;
    if (std::ranges::find(kDrivers, driver) == std::end(kDrivers)) continue;
    cards.push_back({card.filename().string(), std::move(driver)});
  }
  std::ranges::sort(cards, {}, &Card::address);
  return cards;
}

}  // namespace

std::string Interface::use() const {
  if (has_default_route && has_ssh_session) return "the default route and an ssh session";
  if (has_default_route) return "the default route";
  return has_ssh_session ? "an ssh session" : "";
}

const Interface* Machine::find(const std::string& name) const {
  const auto found = std::ranges::find(interfaces, name, &Interface::name);
  return found == interfaces.end() ? nullptr : &*found;
}

bool Machine::has_card(const std::string& address) const {
  return std::ranges::find(cards, address, &Card::address) != cards.end();
}

Machine read_machine(const fs::path& root, const machine::InterfaceAddresses& addresses) {
  Machine machine;
  machine.host_name = line_of(root / "proc/sys/kernel/hostname");
  const fs::path net = root / "proc/net";
  const std::set<std::string> routes = interfaces_of_default_routes(net);
  const std::set<std::string> sessions = addresses_of_ssh_sessions(net);
  for (const std::string& name : network_interfaces(root)) {
    const fs::path its = root / "sys/class/net" / name;
    Interface interface;
    interface.name = name;
    interface.driver = target_of(its / "device/driver");
    interface.device = target_of(its / "device");
    interface.mac = line_of(its / "address");
    interface.state = line_of(its / "operstate");
    // The kernel says -1 if it does not know the speed.
    const std::string speed = line_of(its / "speed");
    interface.speed = speed.starts_with('-') ? "-" : speed;
    interface.master = target_of(its / "master");
    const std::string mtu = line_of(its / "mtu");
    interface.mtu = mtu == "-" ? 0 : static_cast<std::uint32_t>(std::stoul(mtu));
    if (const auto found = addresses.find(name); found != addresses.end()) {
      interface.addresses = found->second;
    }
    interface.has_default_route = routes.contains(name);
    interface.has_ssh_session =
        std::ranges::any_of(interface.addresses,
                            [&](const std::string& address) { return sessions.contains(address); });
    machine.interfaces.push_back(std::move(interface));
  }
  spread_use(machine, root / "sys/class/net");
  machine.cards = drivable_cards(root);
  return machine;
}

}  // namespace satrelay::ctl::init
