// A table of the entries of a reply, one a row. Each column has its title and its cells defined in
// one place.
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

// A number in the object `part` of an entry; "": in the entry itself.
ListingColumn figure(std::string title, const char* key, Scale scale, const char* part = "");
// A counter, shown in its unit.
template <typename Struct>
ListingColumn figure(std::string title, const CounterField<Struct>& field, const char* part = "") {
  return figure(std::move(title), field.name, scale_of(field.unit), part);
}
// Shows "-" for 0, too.
ListingColumn figure_unless_zero(std::string title, const char* key, Scale scale);
ListingColumn words(std::string title, const char* key);
ListingColumn words(std::string title, std::function<std::string(const Json& entry)> cell);
ListingColumn right(ListingColumn column);

// Formats lines of at most `width` characters. If columns are left out for that, a notice below
// names them and says how to see them.
std::string format_listing(const Json& entries, const std::vector<ListingColumn>& columns,
                           std::size_t width);

}  // namespace satrelay::ctl
