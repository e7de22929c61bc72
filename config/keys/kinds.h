// The kinds of values that keys have: rates, times, sizes, shares, whole numbers, words, names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "config/keys/key.h"
#include "config/model/words.h"

namespace satrelay::config {

// `zero` is the text that is shown for zero. If it is "", zero is shown as a number with its unit.
Kind<BitRate> rate(Bounds<BitRate> bounds, std::string zero = "");
Kind<Duration> duration(Bounds<Duration> bounds);
Kind<ByteCount> size(Bounds<ByteCount> bounds, std::string zero = "");
Kind<IpAddress> address();

template <typename T>
Kind<T> whole(Bounds<std::uint64_t> bounds, const std::string& unit = "", std::string zero = "") {
  return {
      .read = [bounds](const Value& value) { return static_cast<T>(value.integer(bounds)); },
      .show =
          [zero](const T& value) {
            return value == 0 && !zero.empty() ? zero : std::to_string(value);
          },
      .allowed = std::to_string(bounds.least) + " to " + std::to_string(bounds.most) +
                 (unit.empty() ? "" : " " + unit),
      .unit = unit,
  };
}

// Returns all words except `but` as text: "a, b or c". If only one word is left, returns "or a".
std::string alternatives(const std::vector<std::string>& words, std::string_view but);

// A setting with a few allowed words, from the table of its enum in config/model/words.h.
// `standard` is the default.
template <typename Enum>
Kind<Enum> word(Enum standard) {
  std::vector<std::string> words;
  for (const auto& [text, value] : kWords<Enum>) words.emplace_back(text);
  return {
      .read = [](const Value& value) { return value.word<Enum>(); },
      .show = [](const Enum& value) { return std::string(word_of(value)); },
      .allowed = alternatives(words, word_of(standard)),
      .unit = "",
  };
}

// A value that may be absent, which is shown as "none".
template <typename T>
Kind<std::optional<T>> or_none(Kind<T> kind) {
  return {
      .read = [read = kind.read](const Value& value) -> std::optional<T> { return read(value); },
      .show =
          [show = kind.show](const std::optional<T>& value) {
            return value ? show(*value) : std::string("none");
          },
      .allowed = kind.allowed,
      .unit = kind.unit,
  };
}

// A setting with two allowed words.
Kind<bool> either(std::string yes, std::string no, bool standard);

// The shortest text that parses to this share.
std::string share_text(double share);
// A share from 0 to 1, or a percentage.
Kind<double> share(std::string allowed);

// Any text, unchanged. `show_empty` is the text that is shown for an empty value.
Kind<std::string> text(const std::string& hint, const std::string& show_empty, std::string allowed);

}  // namespace satrelay::config
