// Makes one page of a list for a client: filters the list, sorts it, and takes a part.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace satrelay::panel {

// The request is wrong. The text says why, and what is allowed.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ListQuery {
  static constexpr std::size_t kMost = 500;
  static constexpr std::size_t kUsual = 100;

  std::size_t first = 0;
  std::size_t count = kUsual;
  // Name of the field to sort by; a "-" before it puts the largest values first. "" keeps the
  // list's order.
  std::string sort = {};
  // Only entries with this text in one of their fields are returned. "" returns all entries.
  std::string filter = {};

  bool is_plain() const { return sort.empty() && filter.empty(); }
};

// Parses the parameters of a URL. A parameter that the client left out is "". Throws BadRequest.
ListQuery parse_list_query(const std::string& first, const std::string& count,
                           const std::string& sort, const std::string& filter);

// Whether one of the entry's fields contains `text`, ignoring case. A field that is a number or an
// identifier must equal `text`. If `text` is empty, every entry matches.
bool has_text(const nlohmann::ordered_json& entry, const std::string& text);

// Returns {"total", "first", "entries"}. `total` counts the entries that pass the filter.
nlohmann::ordered_json page_of(const nlohmann::ordered_json& all, const ListQuery& query);

}  // namespace satrelay::panel
