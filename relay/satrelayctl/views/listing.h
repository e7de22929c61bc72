// A table of like things of a reply, an entry a row: each column has its title and what it shows of
// an entry in one place.
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

// Of the object `part` of an entry; "": of the entry itself.
ListingColumn figure(std::string title, const char* key, Scale scale, const char* part = "");
// A counter, in its unit.
template <typename Struct>
ListingColumn figure(std::string title, const CounterField<Struct>& field, const char* part = "") {
  return figure(std::move(title), field.name, scale_of(field.unit), part);
}
// "-" for 0, too.
ListingColumn figure_unless_zero(std::string title, const char* key, Scale scale);
ListingColumn words(std::string title, const char* key);
ListingColumn words(std::string title, std::function<std::string(const Json& entry)> cell);
ListingColumn right(ListingColumn column);

// In lines of at most `width` characters. Below is said which columns were left out for that, if
// any, and how they are to be had.
std::string format_listing(const Json& entries, const std::vector<ListingColumn>& columns,
                           std::size_t width);

}  // namespace satrelay::ctl
