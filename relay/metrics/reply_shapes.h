// The fields of the stats socket's replies, for code that describes them to programs. Counters are
// taken from their lists. A test compares all of it with the answers of a gateway.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace satrelay::metrics {

enum class ReplyType : std::uint8_t {
  kText,
  kNumber,
  kObject,         // has the field's shape
  kNumbersByName,  // an object with words that occur as names, not fields
  kObjectsByName,  // the same, with objects of the field's shape
};

struct ReplyField {
  std::string_view name;
  ReplyType type = ReplyType::kNumber;
  std::string_view shape = {};
  bool is_if_known = false;  // left out, or null, while nothing was measured
};

// The fields of an object, in the order of the reply. Empty: there is no such shape.
std::vector<ReplyField> fields_of(std::string_view shape);

}  // namespace satrelay::metrics
