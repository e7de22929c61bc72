#include "relay/client/pcapng.h"

#include <cstring>

namespace satrelay::ctl {
namespace {

enum Block : std::uint32_t {
  kSection = 0x0A0D0D0A,
  kInterface = 1,
  kStatistics = 5,
  kEnhancedPacket = 6,
};

template <typename Number>
void add(std::string& body, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  body.append(bytes, sizeof value);
}

void pad(std::string& body) { body.append((4 - body.size() % 4) % 4, '\0'); }

void add_option(std::string& body, std::uint16_t code, const std::string& value) {
  add(body, code);
  add(body, static_cast<std::uint16_t>(value.size()));
  body += value;
  pad(body);
}

template <typename Number>
void add_number_option(std::string& body, std::uint16_t code, Number value) {
  std::string bytes;
  add(bytes, value);
  add_option(body, code, bytes);
}

constexpr std::uint16_t kEndOfOptions = 0;
void end_options(std::string& body) { add_option(body, kEndOfOptions, ""); }

// The upper half comes first in either byte order.
void add_time(std::string& body, std::uint64_t time) {
  add(body, static_cast<std::uint32_t>(time >> 32));
  add(body, static_cast<std::uint32_t>(time));
}

}  // namespace

PcapngWriter::PcapngWriter(std::ostream& out, const Interface& interface,
                           const std::string& application)
    : out_(out) {
  constexpr std::uint16_t kUserApplication = 4;
  std::string section;
  add(section, std::uint32_t{0x1A2B3C4D});  // byte-order magic
  add(section, std::uint16_t{1});           // version 1.0
  add(section, std::uint16_t{0});
  add(section, std::uint64_t{0xffff'ffff'ffff'ffff});  // section length: not given
  add_option(section, kUserApplication, application);
  end_options(section);
  block(kSection, section);

  constexpr std::uint16_t kEthernet = 1, kName = 2, kDescription = 3, kResolution = 9, kFilter = 11;
  std::string described;
  add(described, kEthernet);
  add(described, std::uint16_t{0});
  add(described, interface.longest);
  add_option(described, kName, interface.name);
  add_option(described, kDescription, interface.description);
  add_number_option(described, kResolution, std::uint8_t{9});  // unit of the times: 10^-9 s
  if (!interface.filter.empty()) {
    add_option(described, kFilter,
               std::string(1, '\0') + interface.filter);  // 0 stands for libpcap's language
  }
  end_options(described);
  block(kInterface, described);
}

void PcapngWriter::packet(std::uint64_t time, Way way, std::uint32_t original,
                          std::span<const std::byte> bytes) {
  constexpr std::uint16_t kFlags = 2;
  std::string body;
  add(body, std::uint32_t{0});  // number of the interface
  add_time(body, time);
  add(body, static_cast<std::uint32_t>(bytes.size()));
  add(body, original);
  body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  pad(body);
  add_number_option(body, kFlags, static_cast<std::uint32_t>(way));
  end_options(body);
  block(kEnhancedPacket, body);
}

void PcapngWriter::statistics(std::uint64_t time, std::uint64_t received, std::uint64_t lost) {
  constexpr std::uint16_t kReceived = 4, kLost = 5;
  std::string body;
  add(body, std::uint32_t{0});
  add_time(body, time);
  add_number_option(body, kReceived, received);
  add_number_option(body, kLost, lost);
  end_options(body);
  block(kStatistics, body);
}

void PcapngWriter::block(std::uint32_t type, const std::string& body) {
  std::string whole;
  const auto size = static_cast<std::uint32_t>(body.size() + 12);
  add(whole, type);
  add(whole, size);
  whole += body;
  add(whole, size);
  out_.write(whole.data(), static_cast<std::streamsize>(whole.size()));
}

}  // namespace satrelay::ctl
