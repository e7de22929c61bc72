// A part of a list for a client: filtered, sorted, and of that one page.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace satrelay::panel {

// What is wrong with a request, and what is allowed.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ListQuery {
  static constexpr std::size_t kMost = 500;
  static constexpr std::size_t kUsual = 100;

  std::size_t first = 0;
  std::size_t count = kUsual;
  std::string sort = {};    // a field, "-" before it: from the largest; "": as it comes
  std::string filter = {};  // entries that have this in one of their fields; "": all

  bool is_plain() const { return sort.empty() && filter.empty(); }
};

// From texts as they stand in a URL; "": left out. Throws BadRequest.
ListQuery parse_list_query(const std::string& first, const std::string& count,
                           const std::string& sort, const std::string& filter);

// Whether an entry has the text in one of its fields, whatever the case; a number is its text as a
// whole. "": always.
bool has_text(const nlohmann::ordered_json& entry, const std::string& text);

// {"total", "first", "entries"}. `total` counts those that the filter leaves.
nlohmann::ordered_json page_of(const nlohmann::ordered_json& all, const ListQuery& query);

}  // namespace satrelay::panel
