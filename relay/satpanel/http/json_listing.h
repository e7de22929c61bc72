// Makes one page of a list for a client: filters the list, sorts it, and takes a part.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace satrelay::panel {

// Says what is wrong with a request, and what is allowed.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ListQuery {
  static constexpr std::size_t kMost = 500;
  static constexpr std::size_t kUsual = 100;

  std::size_t first = 0;
  std::size_t count = kUsual;
  std::string sort = {};  // a field's name; "-" before it: largest first; "": the list's own order
  std::string filter = {};  // only entries with this text in one of their fields; "": all

  bool is_plain() const { return sort.empty() && filter.empty(); }
};

// Parses parameters of a URL; "": the client left the parameter out. Throws BadRequest.
ListQuery parse_list_query(const std::string& first, const std::string& count,
                           const std::string& sort, const std::string& filter);

// Whether one of the entry's fields contains `text`, regardless of upper and lower case. A number
// in a field must equal `text`. If `text` is empty, returns true for every entry.
bool has_text(const nlohmann::ordered_json& entry, const std::string& text);

// Returns {"total", "first", "entries"}. `total` counts the entries that pass the filter.
nlohmann::ordered_json page_of(const nlohmann::ordered_json& all, const ListQuery& query);

}  // namespace satrelay::panel
