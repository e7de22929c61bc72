// Formats the entries of a reply as a table, with a row for each entry. The title and the cells of
// a column are defined in one place.
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

// Returns a column of numbers, which are in the object `part` of each entry, or in the entry itself
// if `part` is "".
ListingColumn figure(std::string title, const char* key, Scale scale, const char* part = "");
// Returns a column of a counter, shown in the counter's unit.
template <typename Struct>
ListingColumn figure(std::string title, const CounterField<Struct>& field, const char* part = "") {
  return figure(std::move(title), field.name, scale_of(field.unit), part);
}
// The same as figure(), but also shows "-" for 0.
ListingColumn figure_unless_zero(std::string title, const char* key, Scale scale);
ListingColumn words(std::string title, const char* key);
ListingColumn words(std::string title, std::function<std::string(const Json& entry)> cell);
ListingColumn right(ListingColumn column);

// Formats lines of at most `width` characters. If columns do not fit, they are left out, and a
// notice below the table names them and says how to see them.
std::string format_listing(const Json& entries, const std::vector<ListingColumn>& columns,
                           std::size_t width);

}  // namespace satrelay::ctl
