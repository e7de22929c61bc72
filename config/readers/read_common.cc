#include "config/readers/read_common.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <string_view>

#include "config/keys/kinds.h"
#include "config/model/names.h"

namespace satrelay::config {
namespace {

constexpr std::size_t kMaxInterfaceName = 15;  // IFNAMSIZ less the final zero
constexpr std::size_t kMaxSocketPath = 107;    // sockaddr_un::sun_path less the final zero

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

// The key that names the device. A driver has exactly one such key.
const char* device_key(Driver driver) {
  switch (driver) {
    case Driver::kPci:
      return "pci";
    case Driver::kMemif:
      return "socket";
    case Driver::kAfPacket:
    case Driver::kAfXdp:
      break;
  }
  return "interface";
}

Driver read_driver(const Value& value, const Fields& fields) {
  if (const Value* driver = fields.find("driver")) {
    return driver->word<Driver>();
  }
  if (fields.find("interface") != nullptr) return Driver::kAfPacket;
  if (fields.find("pci") != nullptr) return Driver::kPci;
  if (fields.find("socket") != nullptr) return Driver::kMemif;
  value.fail("names no device; write interface: NAME, pci: ADDRESS or socket: PATH");
}

}  // namespace

// A comma or '=' would end the value inside DPDK's device arguments.
std::string read_interface(const Value& value) {
  constexpr std::string_view kHint = "write the name of a kernel interface, like eth1";
  std::string name = value.text(kHint);
  const bool good = name.size() <= kMaxInterfaceName && name != "." && name != ".." &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return is_name_character(c) || c == '.' || c == '@';
                    });
  if (!good) value.refuse("is not an interface name", kHint);
  return name;
}

std::string read_pci(const Value& value) {
  constexpr std::string_view kHint = "write a PCI address, like 0000:01:00.0";
  std::string text = value.text(kHint);
  if (text.size() == 7) text.insert(0, "0000:");
  const std::string_view t = text;
  const bool good = t.size() == 12 && is_hex(t.substr(0, 4)) && t[4] == ':' &&
                    is_hex(t.substr(5, 2)) && t[7] == ':' && is_hex(t.substr(8, 2)) &&
                    t[10] == '.' && t[11] >= '0' && t[11] <= '7';
  if (!good) value.refuse("is not a PCI address", kHint);
  return text;
}

void check_name(const Value& place, const std::string& name) {
  const bool good = !name.empty() && name.size() <= kMostNameCharacters &&
                    std::all_of(name.begin(), name.end(), is_name_character);
  if (!good) place.fail("is not a name; write 1 to 32 letters, digits, '_' or '-'");
}

std::string read_socket_path(const Value& value) {
  constexpr std::string_view kHint =
      "write an absolute path of at most 107 characters without commas, like "
      "/run/satrelay/link.sock";
  std::string path = value.text(kHint);
  const bool good = path.front() == '/' && path.back() != '/' && path.size() <= kMaxSocketPath &&
                    std::all_of(path.begin(), path.end(), [](char c) {
                      return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != ',';
                    });
  if (!good) value.refuse("is not a socket path", kHint);
  return path;
}

const Keys<Port>& port_keys() {
  static const Keys<Port> keys({
      key_of_section<Port>({.name = "driver",
                            .help = "The driver that opens the port.",
                            .fallback = "by the device key",
                            .allowed = "af_packet, af_xdp, pci or memif"},
                           [](const Port& port) { return std::string(word_of(port.driver)); }),
      key_of_section<Port>({.name = "interface",
                            .help = "The kernel interface of af_packet and af_xdp.",
                            .allowed = "the name of a kernel interface"},
                           [](const Port& port) { return port.interface; }),
      key_of_section<Port>({.name = "pci",
                            .help = "The card of driver pci, bound to vfio-pci.",
                            .allowed = "0000:01:00.0 or 01:00.0"},
                           [](const Port& port) { return port.pci; }),
      key_of_section<Port>({.name = "socket",
                            .help = "The socket of driver memif.",
                            .allowed = "an absolute path of at most 107 characters"},
                           [](const Port& port) { return port.socket; }),
      key_of_section<Port>(
          {.name = "role",
           .help = "Which end of a memif this port is.",
           .fallback = "client",
           .allowed = "or server"},
          [](const Port& port) { return std::string(port.memif_server ? "server" : "client"); }),
      key<Port>({.name = "mtu", .help = "IP bytes of a frame."}, &Port::mtu,
                whole<std::uint16_t>({576, 9000})),
      key_of_section<Port>(
          {.name = "large_frames",
           .help = "Whether consecutive segments are sent and received as one large frame.",
           .fallback = "yes",
           .allowed = "or no"},
          [](const Port& port) { return std::string(port.large_frames ? "yes" : "no"); }),
  });
  return keys;
}

Port read_port(const Value& value) {
  const Fields fields = port_keys().fields(value);
  Port port;
  port.driver = read_driver(value, fields);
  const std::string driver(word_of(port.driver));
  for (const std::string key : {"interface", "pci", "socket"}) {
    if (key == device_key(port.driver)) continue;
    if (const Value* stray = fields.find(key)) {
      stray->fail("contradicts driver " + driver + ", which takes " + device_key(port.driver));
    }
  }
  switch (port.driver) {
    case Driver::kPci:
      port.pci = read_pci(fields.require("pci", "driver pci needs an address like 0000:01:00.0"));
      break;
    case Driver::kMemif:
      port.socket =
          read_socket_path(fields.require("socket", "driver memif needs the path of a socket"));
      break;
    case Driver::kAfPacket:
    case Driver::kAfXdp:
      port.interface = read_interface(
          fields.require("interface", "driver " + driver + " needs a kernel interface like eth1"));
      break;
  }
  if (const Value* role = fields.find("role")) {
    if (port.driver != Driver::kMemif) {
      role->fail("contradicts driver " + driver + "; only memif has roles");
    }
    port.memif_server = role->word<bool>({{"server", true}, {"client", false}});
  }
  port_keys().read(fields, port);
  if (const Value* large = fields.find("large_frames")) {
    if (port.driver != Driver::kAfPacket && port.driver != Driver::kPci) {
      large->fail("contradicts driver " + driver + "; only af_packet and pci send large frames");
    }
    port.large_frames = large->word<bool>({{"yes", true}, {"no", false}});
  }
  return port;
}

namespace {

// Reads a number of workers, which must be a power of two.
unsigned read_count(const Value& value, unsigned most) {
  const auto count = static_cast<unsigned>(value.integer({1, most}));
  if (!std::has_single_bit(count)) {
    value.refuse("is not a power of two, which the division of connections needs",
                 "write 1, 2, 4 or another power of two");
  }
  return count;
}

unsigned read_cpu(const Value& value) { return static_cast<unsigned>(value.integer({0, 1023})); }

void read_cpus(const Fields& fields, Worker& worker) {
  const Value* cpu = fields.find("cpu");
  const Value* cpus = fields.find("cpus");
  if (cpu != nullptr && cpus != nullptr) cpus->fail("contradicts cpu; write one of the two");
  if (cpu != nullptr) {
    if (worker.count > 1) cpu->fail("is one core for several workers; write cpus, one for each");
    worker.cpus = {read_cpu(*cpu)};
  }
  if (cpus == nullptr) return;
  for (const Value& item : cpus->items_or_single()) {
    const unsigned number = read_cpu(item);
    if (std::ranges::find(worker.cpus, number) != worker.cpus.end()) {
      item.refuse("is listed twice", "write a core of its own for each worker");
    }
    worker.cpus.push_back(number);
  }
  if (worker.cpus.size() != worker.count) {
    cpus->fail("has " + std::to_string(worker.cpus.size()) + " cores for " +
               std::to_string(worker.count) + " workers; write one for each, or leave cpus out");
  }
}

// "2, 4, 8 or 16": the powers of two from `least` on.
std::string worker_counts(unsigned least) {
  std::vector<std::string> counts;
  for (unsigned count = least; count <= kMostWorkers; count *= 2) {
    counts.push_back(std::to_string(count));
  }
  return alternatives(counts, "");
}

Key<Worker> polling_key() {
  return key<Worker>({.name = "polling", .help = "Whether a worker sleeps when it is idle."},
                     &Worker::polling, word(Worker().polling));
}

Key<Worker> cpu_key() {
  return key_of_section<Worker>({.name = "cpu",
                                 .help = "The core that the worker is pinned to.",
                                 .fallback = "none",
                                 .allowed = "0 to 1023"},
                                [](const Worker& worker) {
                                  return worker.cpus.size() == 1 ? std::to_string(worker.cpus[0])
                                                                 : std::string("none");
                                });
}

}  // namespace

const Keys<Worker>& only_worker_keys() {
  static const Keys<Worker> keys({polling_key(), cpu_key()});
  return keys;
}

const Keys<Worker>& worker_keys() {
  static const Keys<Worker> keys({
      key_of_section<Worker>({.name = "count",
                              .help = "Threads that carry traffic.",
                              .fallback = "1",
                              .allowed = worker_counts(2)},
                             [](const Worker& worker) { return std::to_string(worker.count); }),
      polling_key(),
      cpu_key(),
      key_of_section<Worker>({.name = "cpus",
                              .help = "The cores that the workers are pinned to, one for each.",
                              .fallback = "none",
                              .allowed = "a list of as many cores as there are workers"},
                             [](const Worker& worker) {
                               std::string text;
                               for (const unsigned cpu : worker.cpus) {
                                 text += (text.empty() ? "" : ", ") + std::to_string(cpu);
                               }
                               return text.empty() ? "none" : text;
                             }),
  });
  return keys;
}

Worker read_worker(const Value& value, unsigned most) {
  const Keys<Worker>& keys = most > 1 ? worker_keys() : only_worker_keys();
  const Fields fields = keys.fields(value);
  Worker worker;
  if (most > 1) {
    if (const Value* count = fields.find("count")) worker.count = read_count(*count, most);
  }
  keys.read(fields, worker);
  if (most > 1) {
    read_cpus(fields, worker);
  } else if (const Value* cpu = fields.find("cpu")) {
    worker.cpus = {read_cpu(*cpu)};
  }
  return worker;
}

Kind<unsigned> workers() {
  return {.read = [](const Value& value) { return read_count(value, kMostWorkers); },
          .show =
              [](const unsigned& count) {
                return count == 0 ? "as many as this gateway has" : std::to_string(count);
              },
          .allowed = worker_counts(1),
          .unit = ""};
}

namespace {

std::uint32_t read_overhead(const Value& value) {
  constexpr std::string_view kHint =
      "write ip, ethernet or the bytes that the modem adds to each IP packet, 0 to 1000";
  const std::string text = value.text(kHint);
  if (text == "ip") return kOverheadIp;
  if (text == "ethernet") return kOverheadEthernet;
  const bool number = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (!number) value.refuse("is not an overhead", kHint);
  return static_cast<std::uint32_t>(value.integer({0, 1000}));
}

std::string read_stats_socket_prefix(const Value& value) {
  constexpr std::string_view kHint = "write 1 to 32 letters, digits, '_' or '-', like satrelay";
  std::string text = value.text(kHint);
  if (text.size() > 32 || !std::all_of(text.begin(), text.end(), is_name_character)) {
    value.refuse("is not a prefix", kHint);
  }
  return text;
}

}  // namespace

Kind<std::uint32_t> overhead() {
  return {.read = read_overhead,
          .show =
              [](const std::uint32_t& bytes) {
                if (bytes == kOverheadEthernet) return std::string("ethernet");
                return bytes == kOverheadIp ? std::string("ip") : std::to_string(bytes);
              },
          .allowed = "ip, or 0 to 1000",
          .unit = "bytes a packet"};
}

Kind<std::string> control_socket() {
  return {.read =
              [](const Value& value) {
                return value.text("write an absolute path, or none") == kNoSocket
                           ? std::string(kNoSocket)
                           : read_socket_path(value);
              },
          .show = [](const std::string& path) { return path; },
          .allowed = "an absolute path, or none",
          .unit = ""};
}

Kind<std::string> stats_socket_prefix() {
  return {.read = read_stats_socket_prefix,
          .show = [](const std::string& prefix) { return prefix; },
          .allowed = "a name",
          .unit = ""};
}

}  // namespace satrelay::config
