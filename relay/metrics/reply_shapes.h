// The fields of the stats socket's replies, for code that describes them to programs. Counters are
// taken from their lists. A test compares these fields with the replies of a gateway.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace satrelay::metrics {

enum class ReplyType : std::uint8_t {
  kText,
  kNumber,
  kObject,  // has the field's shape
  // An object of numbers; its keys are names that occur, such as states, and not fields.
  kNumbersByName,
  kObjectsByName,  // the same, but with objects of the field's shape instead of numbers
};

struct ReplyField {
  std::string_view name;
  ReplyType type = ReplyType::kNumber;
  std::string_view shape = {};
  bool is_if_known = false;  // left out, or null, while nothing was measured
};

// The fields of an object with this shape, in the order of the reply. Empty if there is no such
// shape.
std::vector<ReplyField> fields_of(std::string_view shape);

}  // namespace satrelay::metrics
