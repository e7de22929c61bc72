#include "config/readers/read_records.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace satrelay::config {
namespace {

constexpr std::string_view kCollectorHint =
    "write an address and, unless it is 4739, its port, like 192.0.2.9:4739 or [2001:db8::9]:4739";

std::optional<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && port > 0 ? std::optional(port) : std::nullopt;
}

// No name: to look one up takes as long as a server of names likes.
void read_collector(const Value& value, IpfixCollector& collector) {
  const std::string text = value.text(kCollectorHint);
  std::string_view address = text;
  std::string_view port;
  const bool in_brackets = address.starts_with('[');
  const std::size_t end = in_brackets ? address.find(']') : address.find(':');
  const bool has_port = end != std::string_view::npos && !IpAddress::parse(address);
  if (has_port) {
    port = address.substr(in_brackets ? end + 1 : end);
    address = address.substr(in_brackets ? 1 : 0, end - (in_brackets ? 1 : 0));
  }
  const auto parsed = IpAddress::parse(address);
  if (!parsed) value.refuse("is not a collector", kCollectorHint);
  collector.address = *parsed;
  if (port.empty()) return;
  const auto number = port.starts_with(':') ? parse_port(port.substr(1)) : std::nullopt;
  if (!number) value.refuse("has no port from 1 to 65535", kCollectorHint);
  collector.port = *number;
}

IpfixCollector read_ipfix(const Value& value) {
  const Fields fields = value.fields({"collector", "transport", "observation_domain"});
  IpfixCollector collector;
  read_collector(fields.require("collector", kCollectorHint), collector);
  if (const Value* transport = fields.find("transport")) {
    collector.transport = transport->word<IpfixTransport>(
        {{"udp", IpfixTransport::kUdp}, {"tcp", IpfixTransport::kTcp}});
  }
  if (const Value* domain = fields.find("observation_domain")) {
    collector.observation_domain = static_cast<std::uint32_t>(domain->integer({0, 0xffffffffU}));
  }
  return collector;
}

}  // namespace

Records read_records(const Value& value) {
  constexpr std::string_view kFileHint =
      "write the absolute path of a file, like /var/log/satrelay/flows.json";
  const Fields fields = value.fields({"file", "rotate_size", "keep", "ipfix"});
  Records records;
  if (const Value* file = fields.find("file")) {
    records.file = file->text(kFileHint);
    if (records.file.front() != '/' || records.file.back() == '/') {
      file->refuse("is not the path of a file", kFileHint);
    }
  }
  if (const Value* size = fields.find("rotate_size")) {
    if (records.file.empty()) size->fail("is of no use without file");
    records.rotate_size = size->size({ByteCount(64'000), ByteCount(1'000'000'000'000)});
  }
  if (const Value* keep = fields.find("keep")) {
    if (records.file.empty()) keep->fail("is of no use without file");
    records.keep = static_cast<unsigned>(keep->integer({0, 1000}));
  }
  if (const Value* ipfix = fields.find("ipfix")) records.ipfix = read_ipfix(*ipfix);
  if (!records.wanted()) value.fail("says neither file nor ipfix: there is nobody to write for");
  return records;
}

}  // namespace satrelay::config
