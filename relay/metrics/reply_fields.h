// Reads fields of the stats socket's replies, for metrics. If a gateway of another version leaves
// out a field, or sends it with another type, the field counts as missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace satrelay::metrics {

// The possible words of some fields, as docs/statistics.md lists them.
inline constexpr std::array<std::string_view, 6> kPeerStateWords = {
    "connecting", "alive", "suspect", "refused", "closed", "wrong_key"};
inline constexpr std::array<std::string_view, 3> kAdmissionWords = {"open", "bypass", "draining"};
inline constexpr std::array<std::string_view, 3> kPortLinkWords = {"up", "down", "gone"};

inline constexpr std::array<std::string_view, 3> kRecordsFileWords = {"off", "ok", "failing"};
inline constexpr std::array<std::string_view, 4> kRecordsIpfixWords = {"off", "connecting", "ok",
                                                                       "away"};

// Returns the text in the field `key`, or nullopt if the field is missing.
std::optional<std::string_view> word(const nlohmann::ordered_json& object, const char* key);

// Returns the value that identifies an entry of a listing: the number in the field `label` (such as
// "rule") if there is one, otherwise the entry's name.
std::optional<std::string> label_of(const nlohmann::ordered_json& entry, const char* label);

// The values of an object's counters, in the order of Struct::kFields. nullopt if a field is
// missing.
template <typename Struct>
using Values = std::array<std::optional<std::uint64_t>, Struct::kFields.size()>;

template <typename Struct>
Values<Struct> values_of(const nlohmann::ordered_json& object) {
  Values<Struct> values;
  if (!object.is_object()) return values;
  // A gateway usually writes the counters in the order of kFields, so try the next field first.
  auto next = object.begin();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* name = Struct::kFields[i].name;
    if (next == object.end() || next.key() != name) {
      const auto found = object.find(name);
      if (found == object.end()) continue;
      next = found;
    }
    if (next->is_number_unsigned()) values[i] = next->template get<std::uint64_t>();
    ++next;
  }
  return values;
}

}  // namespace satrelay::metrics
