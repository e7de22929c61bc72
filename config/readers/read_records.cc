#include "config/readers/read_records.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "config/keys/kinds.h"

namespace satrelay::config {
namespace {

constexpr std::string_view kFileHint =
    "write the absolute path of a file, like /var/log/satrelay/flows.json";
constexpr std::string_view kCollectorHint =
    "write an address and, unless it is 4739, its port, like 192.0.2.9:4739 or [2001:db8::9]:4739";

std::optional<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && port > 0 ? std::optional(port) : std::nullopt;
}

// A host name is refused, because the gateway would have to wait for a name server.
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

std::string collector_of(const IpfixCollector& collector) {
  const std::string address = collector.address.to_string();
  const bool brackets = !collector.address.is_v4();
  return (brackets ? "[" + address + "]" : address) + ":" + std::to_string(collector.port);
}

IpfixCollector read_ipfix(const Value& value) {
  const Fields fields = ipfix_keys().fields(value);
  IpfixCollector collector;
  ipfix_keys().read_required(fields, "collector",
                             [&](const Value& each) { read_collector(each, collector); });
  ipfix_keys().read(fields, collector);
  return collector;
}

}  // namespace

const Keys<IpfixCollector>& ipfix_keys() {
  static const Keys<IpfixCollector> keys({
      key_of_section<IpfixCollector>({.name = "collector",
                                      .help = "The address and the port of the collector.",
                                      .allowed = "an address, and a port unless it is 4739",
                                      .required = std::string(kCollectorHint)},
                                     collector_of),
      key<IpfixCollector>({.name = "transport", .help = "The protocol that carries the records."},
                          &IpfixCollector::transport, word(IpfixCollector().transport)),
      key<IpfixCollector>(
          {.name = "observation_domain", .help = "The number of this gateway at the collector."},
          &IpfixCollector::observation_domain, whole<std::uint32_t>({0, 0xffffffffU})),
  });
  return keys;
}

const Keys<Records>& records_keys() {
  static const Keys<Records> keys({
      key<Records>(
          {.name = "file", .help = "The file in which each flow that has ended is a line of JSON."},
          &Records::file,
          Kind<std::string>{
              .read =
                  [](const Value& value) {
                    std::string path = value.text(kFileHint);
                    if (path.front() != '/' || path.back() == '/') {
                      value.refuse("is not the path of a file", kFileHint);
                    }
                    return path;
                  },
              .show = [](const std::string& path) { return path.empty() ? "none" : path; },
              .allowed = "or the absolute path of a file",
              .unit = ""}),
      key<Records>(
          {.name = "rotate_size", .help = "The size of the file before the next one begins."},
          &Records::rotate_size, size({ByteCount(64'000), ByteCount(1'000'000'000'000)})),
      key<Records>({.name = "keep", .help = "Older files that are kept."}, &Records::keep,
                   whole<unsigned>({0, 1000})),
      key_of_section<Records>(
          {.name = "ipfix", .help = "The collector of the records.", .allowed = "or a map"},
          [](const Records& records) {
            if (!records.ipfix) return std::string("none");
            std::string text;
            for (const Key<IpfixCollector>& row : ipfix_keys())
              text += row.show(*records.ipfix) + " ";
            return text;
          }),
  });
  return keys;
}

Records read_records(const Value& value) {
  const Fields fields = records_keys().fields(value);
  Records records;
  if (fields.find("file") == nullptr && fields.are_sound({"file"})) {
    for (const char* key : {"rotate_size", "keep"}) {
      if (const Value* other = fields.find(key)) {
        other->tell("is of no use without file; write file too, or remove it");
      }
    }
  }
  records_keys().read(fields, records);
  fields.read("ipfix", [&](const Value& ipfix) { records.ipfix = read_ipfix(ipfix); });
  if (!records.wanted() && !value.is_wrong()) {
    value.fail("names neither file nor ipfix, so no record is written; name one of them");
  }
  return records;
}

}  // namespace satrelay::config
