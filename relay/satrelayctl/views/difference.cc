#include "relay/satrelayctl/views/difference.h"

#include <cstdint>

namespace satrelay::ctl {
namespace {

Json of_objects(const Json& before, const Json& after) {
  Json changes;
  for (const auto& [key, value] : after.items()) {
    const auto was = before.find(key);
    if (was == before.end()) continue;
    if (Json change = difference(*was, value); !change.is_null()) changes[key] = std::move(change);
  }
  if (!changes.is_null() && after.contains("name")) changes["name"] = after["name"];
  return changes;
}

// Compares entries at the same position. The entries of both listings are in the order of the
// configuration.
Json of_lists(const Json& before, const Json& after) {
  Json changes;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (Json change = difference(before[i], after[i]); !change.is_null()) {
      changes.push_back(std::move(change));
    }
  }
  return changes;
}

}  // namespace

Json difference(const Json& before, const Json& after) {
  if (before.is_object() && after.is_object()) return of_objects(before, after);
  if (before.is_array() && after.is_array()) return of_lists(before, after);
  if (!before.is_number_integer() || !after.is_number_integer() || before == after) return nullptr;
  // Subtract modulo 2^64, so that a counter that has wrapped gives the right difference.
  return static_cast<std::int64_t>(after.get<std::uint64_t>() - before.get<std::uint64_t>());
}

}  // namespace satrelay::ctl
