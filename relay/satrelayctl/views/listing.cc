#include "relay/satrelayctl/views/listing.h"

#include <utility>

namespace satrelay::ctl {

ListingColumn figure(std::string title, const char* key, Scale scale, const char* part) {
  return {{std::move(title), text::Align::kRight}, [key, scale, part](const Json& entry) {
            return shown(*part == '\0' ? entry : member(entry, part), key, scale);
          }};
}

ListingColumn figure_unless_zero(std::string title, const char* key, Scale scale) {
  return {{std::move(title), text::Align::kRight},
          [key, scale](const Json& entry) { return unless_zero(entry, key, scale); }};
}

ListingColumn words(std::string title, const char* key) {
  return words(std::move(title), [key](const Json& entry) { return text(entry, key); });
}

ListingColumn words(std::string title, std::function<std::string(const Json& entry)> cell) {
  return {{std::move(title)}, std::move(cell)};
}

ListingColumn right(ListingColumn column) {
  column.column.align = text::Align::kRight;
  return column;
}

namespace {

std::string notice_of(const text::FittedTable& table, std::size_t width) {
  std::string titles;
  for (const std::string& title : table.left_out) titles += (titles.empty() ? "" : ", ") + title;
  std::string notice;
  for (const std::string& line :
       text::fold("Left out: " + titles + ". Use --wide, or a terminal of " +
                      std::to_string(table.needed) + " columns.",
                  width)) {
    notice += line + '\n';
  }
  return notice;
}

}  // namespace

std::string format_listing(const Json& entries, const std::vector<ListingColumn>& columns,
                           std::size_t width) {
  std::vector<text::Column> titles;
  titles.reserve(columns.size());
  for (const ListingColumn& each : columns) titles.push_back(each.column);
  std::vector<text::Row> rows;
  for (const Json& entry : entries) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const ListingColumn& each : columns) row.push_back(each.cell(entry));
  }
  const text::FittedTable table = text::fit_table(titles, rows, width);
  return table.left_out.empty() ? table.text : table.text + notice_of(table, width);
}

}  // namespace satrelay::ctl
