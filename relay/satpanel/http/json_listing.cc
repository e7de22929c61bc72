#include "relay/satpanel/http/json_listing.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "relay/client/reply.h"

namespace satrelay::panel {
namespace {

using Json = nlohmann::ordered_json;

std::size_t parse(const std::string& text, const char* name, std::size_t usual, std::size_t most) {
  if (text.empty()) return usual;
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number > most) {
    throw BadRequest(std::string(name) + ": write a number up to " + std::to_string(most));
  }
  return number;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool matches(const Json& value, const std::string& filter) {
  if (value.is_string()) {
    return lower(value.get_ref<const std::string&>()).find(filter) != std::string::npos;
  }
  if (value.is_number()) return value.dump() == filter;
  if (!value.is_object()) return false;
  for (const auto& [key, part] : value.items()) {
    if (ctl::is_identifier(key) ? part == filter : matches(part, filter)) return true;
  }
  return false;
}

const Json& value_of(const Json& entry, const std::string& name) {
  static const Json none;
  if (!entry.is_object()) return none;
  const auto found = entry.find(name);
  return found == entry.end() ? none : *found;
}

// Orders identifiers by their numbers: a string of fewer digits is the smaller number.
bool is_before(const Json& a, const Json& b, const std::string& name) {
  if (!ctl::is_identifier(name) || !a.is_string() || !b.is_string()) return a < b;
  const auto& x = a.get_ref<const std::string&>();
  const auto& y = b.get_ref<const std::string&>();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

}  // namespace

ListQuery parse_list_query(const std::string& first, const std::string& count,
                           const std::string& sort, const std::string& filter) {
  constexpr std::size_t kMostText = 128;
  if (sort.size() > kMostText || filter.size() > kMostText) {
    throw BadRequest("sort and filter have at most 128 characters");
  }
  return {.first = parse(first, "first", 0, 1'000'000'000),
          .count = parse(count, "count", ListQuery::kUsual, ListQuery::kMost),
          .sort = sort,
          .filter = filter};
}

bool has_text(const Json& entry, const std::string& text) {
  return text.empty() || matches(entry, lower(text));
}

Json page_of(const Json& all, const ListQuery& query) {
  std::vector<const Json*> kept;
  for (const Json& entry : all) {
    if (has_text(entry, query.filter)) kept.push_back(&entry);
  }
  const bool is_falling = query.sort.starts_with('-');
  const std::string sort = query.sort.substr(is_falling ? 1 : 0);
  if (!sort.empty()) {
    std::ranges::stable_sort(kept, [&](const Json* a, const Json* b) {
      return is_falling ? is_before(value_of(*b, sort), value_of(*a, sort), sort)
                        : is_before(value_of(*a, sort), value_of(*b, sort), sort);
    });
  }
  Json entries = Json::array();
  for (std::size_t i = query.first; i < kept.size() && entries.size() < query.count; ++i) {
    entries.push_back(*kept[i]);
  }
  return {{"total", kept.size()}, {"first", query.first}, {"entries", std::move(entries)}};
}

}  // namespace satrelay::panel
