#include "relay/satlab/papers/paper_report.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::satlab {
namespace {

using nlohmann::ordered_json;

// Formats the value with at least four significant digits, but with at most three decimals.
std::string number(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return text::fixed(value, decimals);
}

std::string number(const std::optional<double>& value) { return value ? number(*value) : "-"; }

const char* sign_of(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "";
    case Relation::kAbout:
      return "~";
    case Relation::kMore:
      return ">";
    case Relation::kLess:
      return "<";
    case Relation::kAtMost:
      return "<=";
  }
  return "";
}

// Separates two contradicting figures that a paper gives for the same case and system.
constexpr const char* kContradiction = " against ";

std::string published_text(const RowSpec& row) {
  std::string text;
  const std::string* before = nullptr;  // system of the previous figure
  for (const Published& one : row.published) {
    const bool same = before != nullptr && *before == one.system;
    if (!text.empty()) text += same ? kContradiction : ", ";
    if (!same) text += one.system + " ";
    text += sign_of(one.relation) + text::significant(one.figure);
    if (!one.place.empty()) text += " (" + one.place + ")";
    before = &one.system;
  }
  return text;
}

bool contradicts_itself(const RowSpec& row) {
  return published_text(row).find(kContradiction) != std::string::npos;
}

std::string target_text(const RowSpec& row) {
  if (!row.target) return "-";
  return (row.better == Better::kHigher ? ">= " : "<= ") + number(*row.target);
}

ordered_json json_number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

std::string paper_table(const Paper& paper, const PaperResult& result,
                        const std::string& controller) {
  using text::Align;
  std::vector<text::Column> columns = {{"case"},
                                       {"unit"},
                                       {"bound", Align::kRight},
                                       {"ours", Align::kRight},
                                       {"target", Align::kRight},
                                       {"met"},
                                       {"published"}};
  constexpr std::size_t kBehindOurs = 4;
  if (!controller.empty()) {
    columns.insert(columns.begin() + kBehindOurs, {controller, Align::kRight});
  }
  std::vector<text::Row> rows;
  for (const RowResult& row : result.rows) {
    rows.push_back({row.spec.name, row.spec.unit, number(row.spec.bound), number(row.ours),
                    target_text(row.spec),
                    !row.met   ? "-"
                    : *row.met ? "yes"
                               : "NO",
                    published_text(row.spec)});
    if (controller.empty()) continue;
    rows.back().insert(rows.back().begin() + kBehindOurs, number(row.with_controller));
  }
  std::string table =
      paper.title + "; hosts use " + result.congestion + "\n\n" + text::format_table(columns, rows);
  if (std::ranges::any_of(paper.cases, [](const Case& one) {
        return std::ranges::any_of(one.rows, contradicts_itself);
      })) {
    table += "\nagainst: the paper gives both figures for the same case, so neither is exact\n";
  }
  return table;
}

ordered_json paper_json(const Paper& paper, const PaperResult& result,
                        const std::string& controller) {
  ordered_json json;
  json["paper"] = paper.name;
  json["congestion"] = result.congestion;
  json["rows"] = ordered_json::array();
  for (const RowResult& row : result.rows) {
    ordered_json one;
    one["case"] = row.spec.name;
    one["unit"] = row.spec.unit;
    one["published"] = ordered_json::object();
    one["signs"] = ordered_json::object();
    for (const Published& figure : row.spec.published) {
      const std::string key = figure.system + (figure.place.empty() ? "" : ", " + figure.place);
      one["published"][key] = figure.figure;
      if (figure.relation != Relation::kEqual) one["signs"][key] = sign_of(figure.relation);
    }
    one["bound"] = json_number(row.spec.bound);
    one["ours"] = json_number(row.ours);
    one["target"] = json_number(row.spec.target);
    one["met"] = row.met ? ordered_json(*row.met) : ordered_json(nullptr);
    if (!controller.empty()) one["controllers"][controller] = json_number(row.with_controller);
    json["rows"].push_back(one);
  }
  return json;
}

std::string paper_list(const Paper& paper) {
  std::string text = paper.title + "\n";
  for (const Case& one : paper.cases) {
    text += one.name + "\n";
    for (const RowSpec& row : one.rows) {
      text += "    " + row.name + ": " + target_text(row);
      if (row.target && !row.unit.empty()) text += " " + row.unit;
      text += "\n";
    }
  }
  return text;
}

}  // namespace satrelay::satlab
