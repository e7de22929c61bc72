#include "relay/client/reply.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "relay/text/numbers.h"

namespace satrelay::ctl {

const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

std::optional<std::uint64_t> number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

bool is_identifier(std::string_view key) {
  constexpr std::array<std::string_view, 2> kIdentifiers{"boot_epoch", "id"};
  return std::ranges::find(kIdentifiers, key) != kIdentifiers.end();
}

std::string identifier(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_string()) return "-";
  std::string out = value.get<std::string>();
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

std::string shown(const Json& object, const char* key, Scale scale) {
  const auto value = number(object, key);
  return value ? scale(*value) : "-";
}

Scale scale_of(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kBytes:
      return text::binary_bytes;
    case CounterUnit::kNanoseconds:
      return [](std::uint64_t n) { return text::duration(n / 1000); };
    case CounterUnit::kMicroseconds:
      return text::duration;
    case CounterUnit::kNumber:
      break;
  }
  return text::count;
}

std::string unless_zero(const Json& object, const char* key, Scale scale) {
  return number(object, key).value_or(0) == 0 ? "-" : shown(object, key, scale);
}

std::string milliseconds(std::uint64_t n) { return text::duration(n * 1000); }
std::string bits_per_second(std::uint64_t n) { return text::bit_rate(static_cast<double>(n)); }

void name_unmeasured(std::string_view command, Json& reply) {
  const auto name = [](Json& entry, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (!entry.contains(key)) entry[key] = nullptr;
    }
  };
  if (command == "flow") name(reply, {"lan_rtt_us", "path_rtt_us", "path_loss_ppm"});
  if (!reply.is_array()) return;
  for (Json& entry : reply) {
    if (command == "peers") name(entry, {"path_mtu_bytes", "rtt_us", "loss_ppm"});
    if (command == "flows") name(entry, {"lan_rtt_us"});
    if (command == "history") {
      name(entry, {"send_bps", "receive_bps", "loss_ppm", "rtt_us", "queued_bytes", "wait_us",
                   "encoded_ppm"});
    }
  }
}

std::string state_words(const std::string& state) {
  return state == "wrong_key" ? "wrong key?" : state;
}

std::string endpoint(const Json& flow, const char* address, const char* port) {
  const std::string host = text(flow, address);
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? '[' + host + ']' : host) + ':' + shown(flow, port, text::plain);
}

}  // namespace satrelay::ctl
