// The fields of the stats socket's replies, for code that describes the replies to programs. The
// fields for counters come from the counter lists. A test compares all fields with the replies of a
// gateway.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace satrelay::metrics {

enum class ReplyType : std::uint8_t {
  kText,
  kNumber,
  kObject,  // an object with the fields of the named shape
  // An object of numbers. Its keys are not fixed fields but names that occur, such as states.
  kNumbersByName,
  kObjectsByName,  // like kNumbersByName, but with objects of the named shape instead of numbers
};

struct ReplyField {
  std::string_view name;
  ReplyType type = ReplyType::kNumber;
  std::string_view shape = {};
  // True if the field may be missing or null, because the value has not been measured yet.
  bool is_if_known = false;
};

// The fields of an object with this shape, in the order of the reply. Empty if there is no such
// shape.
std::vector<ReplyField> fields_of(std::string_view shape);

}  // namespace satrelay::metrics
