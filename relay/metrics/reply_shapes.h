// Which fields the replies of the stats socket have, for who describes them to programs. What is
// counted is taken from the lists of counters; a test compares all of it with what a gateway
// answers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace satrelay::metrics {

enum class ReplyType : std::uint8_t {
  kText,
  kNumber,
  kObject,         // of the field's shape
  kNumbersByName,  // an object whose names are no fields, but words that occur
  kObjectsByName,  // the same, of the field's shape
};

struct ReplyField {
  std::string_view name;
  ReplyType type = ReplyType::kNumber;
  std::string_view shape = {};
  bool is_if_known = false;  // left out, or null, while nothing was measured
};

// Of an object; in the order of the reply. Empty: there is no such shape.
std::vector<ReplyField> fields_of(std::string_view shape);

}  // namespace satrelay::metrics
