#include "relay/kernel/kernel_interface.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace satrelay::kernel {
namespace {

// The name in the kernel's table of features, and the name for ethtool -K.
struct MergeOffload {
  std::string_view kernel_name;
  std::string_view ethtool_name;
};
// GRO also merges packets inside tunnels that end on other machines. To cut a merged frame, the
// port must rewrite the outer headers. It can do so only for the tunnels that wire::Tunnel knows.
constexpr std::array<MergeOffload, 5> kMergeOffloads{{
    {"rx-gro", "gro"},
    {"rx-lro", "lro"},
    {"rx-gro-hw", "rx-gro-hw"},
    {"rx-gro-list", "rx-gro-list"},
    {"rx-udp-gro-forwarding", "rx-udp-gro-forwarding"},
}};

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), std::min(name.size(), sizeof request.ifr_name - 1));
  return request;
}

bool ethtool(int socket, const std::string& name, void* command) {
  ifreq request = request_for(name);
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(socket, SIOCETHTOOL, &request) == 0;
}

// Position of each merge offload among the device features, in the order of kMergeOffloads.
struct FeatureTable {
  std::uint32_t count = 0;
  std::array<std::optional<std::uint32_t>, kMergeOffloads.size()> position;
};

std::optional<FeatureTable> feature_table(int socket, const std::string& name) {
  std::vector<char> memory(sizeof(ethtool_sset_info) + sizeof(std::uint32_t));
  auto* set = reinterpret_cast<ethtool_sset_info*>(memory.data());
  set->cmd = ETHTOOL_GSSET_INFO;
  set->sset_mask = 1ULL << ETH_SS_FEATURES;
  if (!ethtool(socket, name, set) || set->sset_mask == 0) return std::nullopt;
  FeatureTable table;
  std::memcpy(&table.count, memory.data() + sizeof(ethtool_sset_info), sizeof table.count);

  memory.assign(sizeof(ethtool_gstrings) + std::size_t{table.count} * ETH_GSTRING_LEN, '\0');
  auto* strings = reinterpret_cast<ethtool_gstrings*>(memory.data());
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_FEATURES;
  strings->len = table.count;
  if (!ethtool(socket, name, strings)) return std::nullopt;

  for (std::uint32_t i = 0; i < table.count; ++i) {
    const char* text = memory.data() + sizeof(ethtool_gstrings) + std::size_t{i} * ETH_GSTRING_LEN;
    const std::string_view feature(text, ::strnlen(text, ETH_GSTRING_LEN));
    for (std::size_t k = 0; k < kMergeOffloads.size(); ++k) {
      if (feature == kMergeOffloads[k].kernel_name) table.position[k] = i;
    }
  }
  return table;
}

std::vector<std::uint32_t> active_features(int socket, const std::string& name,
                                           std::uint32_t count) {
  const std::size_t blocks = (count + 31U) / 32U;
  std::vector<char> memory(sizeof(ethtool_gfeatures) + blocks * sizeof(ethtool_get_features_block));
  auto* features = reinterpret_cast<ethtool_gfeatures*>(memory.data());
  features->cmd = ETHTOOL_GFEATURES;
  features->size = static_cast<std::uint32_t>(blocks);
  std::vector<std::uint32_t> active(blocks, 0);
  if (!ethtool(socket, name, features)) return active;
  for (std::size_t i = 0; i < blocks; ++i) {
    ethtool_get_features_block block{};
    std::memcpy(&block, memory.data() + sizeof(ethtool_gfeatures) + i * sizeof block, sizeof block);
    active[i] = block.active;
  }
  return active;
}

bool write_file(const std::string& path, std::string_view value) {
  std::ofstream file(path);
  file << value;
  file.flush();
  return file.good();
}

// True if the setting has the value afterwards, or if the kernel has no such setting.
bool set_sysctl(const std::string& path, std::string_view value) {
  std::string present;
  if (!(std::ifstream(path) >> present)) return true;
  return present == value || write_file(path, value);
}

std::string addresses_of(const std::string& name) {
  std::string text;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return text;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || name != entry->ifa_name) continue;
    if (entry->ifa_addr->sa_family == AF_INET) text = "an IPv4 address";
    if (entry->ifa_addr->sa_family == AF_INET6 && text.empty()) text = "an IPv6 address";
  }
  ::freeifaddrs(list);
  return text;
}

}  // namespace

KernelInterface::KernelInterface(const std::string& name)
    : name_(name),
      socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      index_(::if_nametoindex(name.c_str())) {
  if (index_ == 0 || name.size() >= IFNAMSIZ) {
    if (socket_ >= 0) ::close(socket_);
    throw std::runtime_error("there is no interface " + name +
                             " in this network namespace (see: ip link)");
  }
}

KernelInterface::~KernelInterface() {
  if (socket_ >= 0) ::close(socket_);
}

std::uint16_t KernelInterface::mtu() const {
  ifreq request = request_for(name_);
  if (::ioctl(socket_, SIOCGIFMTU, &request) != 0) return 0;
  return static_cast<std::uint16_t>(std::clamp(request.ifr_mtu, 0, 65535));
}

bool KernelInterface::has_flag(unsigned flag) const {
  ifreq request = request_for(name_);
  return ::ioctl(socket_, SIOCGIFFLAGS, &request) == 0 &&
         (static_cast<unsigned>(request.ifr_flags) & flag) != 0;
}

bool KernelInterface::is_enabled() const { return has_flag(IFF_UP); }
bool KernelInterface::is_running() const { return has_flag(IFF_RUNNING); }

MacAddress KernelInterface::mac() const {
  MacAddress result;
  ifreq request = request_for(name_);
  if (::ioctl(socket_, SIOCGIFHWADDR, &request) == 0) {
    std::memcpy(result.octets.data(), request.ifr_hwaddr.sa_data, result.octets.size());
  }
  return result;
}

std::vector<std::string> KernelInterface::objections(std::uint16_t mtu) const {
  std::vector<std::string> words;
  if (!is_enabled()) words.emplace_back("is down");
  if (const std::uint16_t present = this->mtu(); present < mtu) {
    words.push_back("has an MTU of " + std::to_string(present));
  }
  if (!active_merge_offloads().empty()) words.emplace_back("merges received frames");
  return words;
}

std::uint32_t KernelInterface::megabits() const {
  ethtool_cmd command{};
  command.cmd = ETHTOOL_GSET;
  if (!ethtool(socket_, name_, &command)) return 0;
  const std::uint32_t speed = ethtool_cmd_speed(&command);
  return speed == static_cast<std::uint32_t>(SPEED_UNKNOWN) ? 0 : speed;
}

bool KernelInterface::is_half_duplex() const {
  ethtool_cmd command{};
  command.cmd = ETHTOOL_GSET;
  return ethtool(socket_, name_, &command) && command.duplex == DUPLEX_HALF;
}

std::string KernelInterface::addresses() const { return addresses_of(name_); }

std::vector<std::string> KernelInterface::active_merge_offloads() const {
  std::vector<std::string> names;
  const auto table = feature_table(socket_, name_);
  if (!table) return names;
  const auto active = active_features(socket_, name_, table->count);
  for (std::size_t k = 0; k < kMergeOffloads.size(); ++k) {
    if (!table->position[k]) continue;
    const std::uint32_t bit = *table->position[k];
    if ((active[bit / 32U] >> (bit % 32U)) & 1U) {
      names.emplace_back(kMergeOffloads[k].ethtool_name);
    }
  }
  return names;
}

KernelInterface::Preparation KernelInterface::prepare(std::uint16_t mtu) {
  Preparation done;
  set_mtu(mtu, done.changes);
  disable_merge_offloads(done.notices);
  keep_kernel_off(done.notices);
  bring_up();
  return done;
}

bool KernelInterface::try_mtu(unsigned mtu) {
  ifreq request = request_for(name_);
  request.ifr_mtu = static_cast<int>(mtu);
  return ::ioctl(socket_, SIOCSIFMTU, &request) == 0;
}

void KernelInterface::set_mtu(std::uint16_t mtu, std::vector<std::string>& changes) {
  // The kernel allows one 802.1Q tag in addition to the MTU, but no 802.1ad tag and no second tag.
  // So set an MTU with room for two tags, if the device supports it.
  constexpr unsigned kTwoTags = 8;
  const std::uint16_t present = this->mtu();
  if (present == mtu + kTwoTags || try_mtu(mtu + kTwoTags) || present == mtu || try_mtu(mtu)) {
    if (const std::uint16_t now = this->mtu(); now != present) {
      changes.push_back("interface " + name_ + ": MTU " + std::to_string(now) + " instead of " +
                        std::to_string(present) +
                        (now == mtu ? "" : ", with room for two VLAN tags"));
    }
    return;
  }
  const std::string reason = std::strerror(errno);
  if (present > mtu) return;
  throw std::runtime_error("interface " + name_ + " does not take an MTU of " +
                           std::to_string(mtu) + " (it has " + std::to_string(present) +
                           "): " + reason + "; set a smaller mtu for this port");
}

void KernelInterface::disable_merge_offloads(std::vector<std::string>& notices) {
  const auto table = feature_table(socket_, name_);
  if (!table) return;
  const std::size_t blocks = (table->count + 31U) / 32U;
  std::vector<ethtool_set_features_block> change(blocks, ethtool_set_features_block{});
  for (std::size_t k = 0; k < kMergeOffloads.size(); ++k) {
    const auto& position = table->position[k];
    if (!position) continue;
    change[*position / 32U].valid |= 1U << (*position % 32U);
  }
  std::vector<char> memory(sizeof(ethtool_sfeatures) + blocks * sizeof change[0]);
  auto* features = reinterpret_cast<ethtool_sfeatures*>(memory.data());
  features->cmd = ETHTOOL_SFEATURES;
  features->size = static_cast<std::uint32_t>(blocks);
  std::memcpy(memory.data() + sizeof(ethtool_sfeatures), change.data(), blocks * sizeof change[0]);
  ethtool(socket_, name_, features);  // the result is checked below

  const std::vector<std::string> still_on = active_merge_offloads();
  if (still_on.empty()) return;
  std::string words;
  for (const std::string& offload : still_on) words += " " + offload + " off";
  notices.push_back("interface " + name_ +
                    " merges received frames, which an inline bridge cannot pass on; run: ethtool "
                    "-K " +
                    name_ + words);
}

void KernelInterface::keep_kernel_off(std::vector<std::string>& notices) {
  // The kernel must neither autoconfigure an address, nor answer ARP for addresses that the machine
  // has elsewhere, nor route frames that the bridge forwards.
  const std::string v4 = "/proc/sys/net/ipv4/conf/" + name_ + "/";
  const std::string v6 = "/proc/sys/net/ipv6/conf/" + name_ + "/";
  bool done = set_sysctl(v6 + "disable_ipv6", "1");
  done = set_sysctl(v4 + "arp_ignore", "8") && done;
  done = set_sysctl(v4 + "forwarding", "0") && done;
  if (!done) {
    notices.push_back("cannot keep the kernel's IP stack off " + name_ +
                      "; run: sysctl net.ipv6.conf." + name_ + ".disable_ipv6=1 net.ipv4.conf." +
                      name_ + ".arp_ignore=8 net.ipv4.conf." + name_ + ".forwarding=0");
  }
  const std::string address = addresses();
  if (!address.empty()) {
    notices.push_back("interface " + name_ + " has " + address +
                      " in the kernel, which will answer in the bridge's place; run: ip address "
                      "flush dev " +
                      name_);
  }
}

void KernelInterface::bring_up() {
  ifreq request = request_for(name_);
  if (::ioctl(socket_, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0) return;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (::ioctl(socket_, SIOCSIFFLAGS, &request) != 0) {
    throw std::runtime_error("cannot bring interface " + name_ + " up: " + std::strerror(errno));
  }
}

std::string interface_name(unsigned index) {
  std::array<char, IFNAMSIZ> name{};
  return ::if_indextoname(index, name.data()) != nullptr ? name.data() : "";
}

std::vector<std::string> check_kernel_backlog() {
  constexpr unsigned kWanted = 4096;
  unsigned present = kWanted;
  std::ifstream("/proc/sys/net/core/netdev_max_backlog") >> present;
  if (present >= kWanted) return {};
  return {"net.core.netdev_max_backlog is " + std::to_string(present) +
          "; bursts on virtual interfaces may be lost in the kernel; advised: sysctl "
          "net.core.netdev_max_backlog=" +
          std::to_string(kWanted)};
}

}  // namespace satrelay::kernel
