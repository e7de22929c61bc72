#include "config/readers/read_common.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <string_view>

#include "config/keys/kinds.h"
#include "config/model/names.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

constexpr std::size_t kMaxInterfaceName = 15;  // IFNAMSIZ less the final zero
constexpr std::size_t kMaxSocketPath = 107;    // sockaddr_un::sun_path less the final zero

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

// A key that names a device. A driver has exactly one such key.
struct DeviceKey {
  const char* name;
  std::string (*read)(const Value& value);
  std::string Port::*member;
  std::string_view need;  // why the driver needs it
};
constexpr DeviceKey kDeviceKeys[] = {
    {"interface", read_interface, &Port::interface, "needs a kernel interface like eth1"},
    {"pci", read_pci, &Port::pci, "needs an address like 0000:01:00.0"},
    {"socket", read_socket_path, &Port::socket, "needs the path of a socket"}};

std::string_view device_key(Driver driver) {
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

// Returns nullopt if the map has a mistake that hides the driver.
std::optional<Driver> read_driver(const Value& value, const Fields& fields) {
  std::optional<Driver> driver;
  fields.read("driver", [&](const Value& word) { driver = word.word<Driver>(); });
  if (fields.find("driver") != nullptr || !fields.are_sound({"driver"})) return driver;
  if (fields.find("interface") != nullptr) return Driver::kAfPacket;
  if (fields.find("pci") != nullptr) return Driver::kPci;
  if (fields.find("socket") != nullptr) return Driver::kMemif;
  // One of the unknown keys may be meant as the device.
  if (!fields.has_unknown()) {
    value.fail("names no device; write interface: NAME, pci: ADDRESS or socket: PATH");
  }
  return std::nullopt;
}

// Reads the key of the device. If the driver is not known, reads each key that could be it.
void read_device(const Fields& fields, const std::optional<Driver>& driver, Port& port) {
  const std::string own(driver ? device_key(*driver) : "");
  const std::string word(driver ? word_of(*driver) : "");
  bool has_other = false;
  for (const DeviceKey& key : kDeviceKeys) {
    const Value* const value = fields.find(key.name);
    if (value == nullptr || !driver || key.name == own) continue;
    has_other = true;
    const std::string cure =
        fields.find(own) != nullptr ? "remove one of them" : "write " + own + ", or another driver";
    value->tell(std::string("contradicts driver ")
                    .append(word)
                    .append(", which takes ")
                    .append(own)
                    .append("; ")
                    .append(cure));
  }
  for (const DeviceKey& key : kDeviceKeys) {
    if (driver && key.name != own) continue;
    const auto read = [&](const Value& value) { port.*key.member = key.read(value); };
    if (driver && !has_other) {
      fields.read_required(key.name, "driver " + word + " " + std::string(key.need), read);
    } else {
      fields.read(key.name, read);
    }
  }
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
  if (!good) {
    place.fail(in_quotes(name) + " is not a name; write 1 to 32 letters, digits, '_' or '-'");
  }
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
  std::optional<Driver> driver;
  value.attempt([&] { driver = read_driver(value, fields); });
  if (driver) port.driver = *driver;
  read_device(fields, driver, port);
  const std::string word(word_of(port.driver));
  fields.read("role", [&](const Value& role) {
    if (driver && driver != Driver::kMemif) {
      role.fail("contradicts driver " + word + "; only memif has roles; remove it");
    }
    port.memif_server = role.word<bool>({{"server", true}, {"client", false}});
  });
  port_keys().read(fields, port);
  fields.read("large_frames", [&](const Value& large) {
    if (driver && driver != Driver::kAfPacket && driver != Driver::kPci) {
      large.fail("contradicts driver " + word +
                 "; only af_packet and pci send large frames; remove it");
    }
    port.large_frames = large.word<bool>({{"yes", true}, {"no", false}});
  });
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

void read_cpu_list(const Value& value, const Fields& fields, Worker& worker) {
  const std::vector<Value> items = value.items_or_single();
  if (items.size() > kMostWorkers) {
    value.fail("has " + std::to_string(items.size()) +
               " cores; write one for each worker, at most " + std::to_string(kMostWorkers));
  }
  for (const Value& item : items) {
    item.attempt([&] {
      const unsigned number = read_cpu(item);
      if (std::ranges::find(worker.cpus, number) != worker.cpus.end()) {
        item.refuse("is listed twice", "write a core of its own for each worker");
      }
      worker.cpus.push_back(number);
    });
  }
  if (items.size() == worker.count || !fields.are_sound({"count", "cpus"})) return;
  value.fail("has " + std::to_string(items.size()) + " cores for " + std::to_string(worker.count) +
             " workers; write one for each, or leave cpus out");
}

void read_cpus(const Fields& fields, Worker& worker) {
  const bool has_both = fields.find("cpu") != nullptr && fields.find("cpus") != nullptr;
  if (has_both) fields.find("cpus")->tell("contradicts cpu; write one of the two");
  fields.read("cpu", [&](const Value& cpu) {
    if (worker.count > 1 && !has_both) {
      cpu.fail("is one core for several workers; write cpus, one for each");
    }
    worker.cpus = {read_cpu(cpu)};
  });
  if (has_both) return;
  fields.read("cpus", [&](const Value& cpus) { read_cpu_list(cpus, fields, worker); });
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
    fields.read("count", [&](const Value& count) { worker.count = read_count(count, most); });
  }
  keys.read(fields, worker);
  if (most > 1) {
    read_cpus(fields, worker);
  } else {
    fields.read("cpu", [&](const Value& cpu) { worker.cpus = {read_cpu(cpu)}; });
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
