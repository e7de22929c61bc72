// The dissector's words for values.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "pep/base/address.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::dissector {

inline std::string text_of(std::uint64_t value) { return std::to_string(value); }

inline std::string reason_of(stp::ResetReason reason) {
  const std::string name = stp::to_string(reason);
  return name == "unknown" ? "reason " + text_of(static_cast<std::uint8_t>(reason)) : name;
}

inline std::string name_of(stp::FecCode code) {
  return code == stp::FecCode::kFlight ? "flight" : "prompt";
}

inline std::string hex_byte(std::uint8_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {kDigits[value >> 4U], kDigits[value & 15U]};
}

// Formats with printf's %g, which fits the whole and tenth millions that the tests use.
inline std::string megabits(std::uint64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(bits) / 1e6);
  return text;
}

inline std::string host_of(const IpAddress& address) {
  const std::string text = address.to_string();
  return address.is_v4() ? text : "[" + text + "]";
}

inline std::string end_of(const IpAddress& address, std::uint16_t port) {
  return host_of(address) + ":" + text_of(port);
}

inline std::uint64_t bit(std::uint64_t value, unsigned at) { return value >> at & 1U; }

}  // namespace satrelay::dissector
