// Formats the entries of a reply as a table with one row for each entry. A column's title and its
// cells are defined in one place.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/base/counter_fields.h"
#include "relay/client/reply.h"
#include "relay/text/table.h"

namespace satrelay::ctl {

struct ListingColumn {
  text::Column column;
  std::function<std::string(const Json& entry)> cell;
};

// Returns a column of numbers. The numbers are in the object `part` of each entry, or in the entry
// itself if `part` is "".
ListingColumn figure(std::string title, const char* key, Scale scale, const char* part = "");
// Returns a column that shows a counter in its unit.
template <typename Struct>
ListingColumn figure(std::string title, const CounterField<Struct>& field, const char* part = "") {
  return figure(std::move(title), field.name, scale_of(field.unit), part);
}
// Like figure(), but shows "-" instead of 0.
ListingColumn figure_unless_zero(std::string title, const char* key, Scale scale);
ListingColumn words(std::string title, const char* key);
ListingColumn words(std::string title, std::function<std::string(const Json& entry)> cell);
ListingColumn right(ListingColumn column);

// Formats the entries in lines of at most `width` characters. Leaves out columns that do not fit. A
// notice below the table then names these columns, and says how to see them.
std::string format_listing(const Json& entries, const std::vector<ListingColumn>& columns,
                           std::size_t width);

}  // namespace satrelay::ctl
