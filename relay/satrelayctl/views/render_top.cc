#include "relay/satrelayctl/views/render_top.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "pep/stp/counters.h"
#include "relay/client/reply.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

constexpr std::size_t kMostRules = 4;
constexpr std::size_t kMostClasses = 4;
constexpr std::size_t kMostPeers = 6;
// On a small screen, the other tables are shortened to make room for flows, but only down to
// kFewestRows rows.
constexpr std::size_t kFewestFlows = 4;
constexpr std::size_t kFewestRows = 2;

using text::Row;

struct Section {
  std::vector<text::Column> columns;
  std::vector<Row> rows;
};

std::string cut(std::string text, std::size_t most) {
  if (text.size() > most) {
    text.resize(most);
    text.back() = '~';
  }
  return text;
}

// Shortens an address with its port in the middle, since both ends matter to the reader.
std::string cut_endpoint(const std::string& text, std::size_t most) {
  constexpr std::size_t kPort = 6;  // ":65535"
  if (text.size() <= most) return text;
  return text.substr(0, most - kPort - 1) + '~' + text.substr(text.size() - kPort);
}

// Computes the growth of counters between two samples.
class Growth {
 public:
  Growth(const TopSample& before, const TopSample& now) : seconds_(now.seconds - before.seconds) {}

  double per_second(const Json& before, const Json& now, const char* key) const {
    const auto then = number(before, key);
    const auto since = number(now, key);
    if (!then || !since || *since < *then || seconds_ <= 0) return 0;
    return static_cast<double>(*since - *then) / seconds_;
  }
  std::string bits(const Json& before, const Json& now, const char* key) const {
    return text::bit_rate(per_second(before, now, key) * 8);
  }
  std::string events(const Json& before, const Json& now, const char* key) const {
    return text::count(static_cast<std::uint64_t>(per_second(before, now, key))) + "/s";
  }

 private:
  double seconds_;
};

// Finds the earlier entry with the same value of `key` as `entry`. Returns null if the entry is
// new.
class Earlier {
 public:
  Earlier(const Json& list, const char* key) : key_(key) {
    if (!list.is_array()) return;
    for (const Json& entry : list) entries_.emplace(member(entry, key).dump(), &entry);
  }
  const Json& of(const Json& entry) const {
    static const Json nothing;
    const auto found = entries_.find(member(entry, key_).dump());
    return found == entries_.end() ? nothing : *found->second;
  }

 private:
  const char* key_;
  std::map<std::string, const Json*> entries_;
};

// Shortens the texts in the first column, so that a line has room for the other columns. Does not
// shorten a text below the length of "relayed".
void cut_first_column(Section& table, std::size_t columns) {
  constexpr std::size_t kShortest = 7;
  Section others = table;
  others.columns.front().title.clear();
  for (Row& row : others.rows) row.front().clear();
  const std::size_t taken = text::format_table(others.columns, others.rows).find('\n');
  const std::size_t most = columns > taken + kShortest ? columns - taken : kShortest;
  for (Row& row : table.rows) row.front() = cut(row.front(), most);
}

std::string headline(const TopSample& now) {
  std::string line = "up " + shown(now.status, "uptime_ms", milliseconds) + "   flows " +
                     shown(now.status, "flows", text::count) + ", half-open " +
                     shown(now.status, "half_open", text::count);
  if (const std::string admission = text(now.status, "new_flows");
      admission != "open" && admission != "-") {
    line += "   new flows bridged (" + admission + ")";
  }
  const auto used = number(now.status, "arena_used_bytes");
  const auto all = number(now.status, "arena_bytes");
  if (used && all && *all > 0) {
    const double share = static_cast<double>(*used) / static_cast<double>(*all);
    line += "   memory " + text::share(static_cast<std::uint64_t>(share * 1e6)) + " of " +
            text::binary_bytes(*all);
  }
  return line + "\n\n";
}

// Collects rows, and returns the rows with the most traffic, the busiest first.
class Busiest {
 public:
  void add(double bytes, Row row) { entries_.push_back({bytes, std::move(row)}); }
  std::vector<Row> first(std::size_t most) {
    std::ranges::stable_sort(entries_, std::greater{}, &Entry::bytes);
    std::vector<Row> rows;
    for (Entry& entry : entries_) {
      if (rows.size() < most) rows.push_back(std::move(entry.row));
    }
    return rows;
  }

 private:
  struct Entry {
    double bytes = 0;
    Row row;
  };
  std::vector<Entry> entries_;
};

Section peers_table(const TopSample& before, const TopSample& now, const Growth& growth) {
  const Earlier earlier(before.peers, "name");
  std::vector<Row> rows;
  for (const Json& peer : now.peers) {
    if (rows.size() == kMostPeers) break;
    const Json& was = member(earlier.of(peer), "counters");
    const Json& is = member(peer, "counters");
    const double sent = growth.per_second(was, is, field_of(&stp::Counters::bytes_out).name) * 8;
    const auto rate = number(peer, "send_rate_bps");
    std::string share = "-";
    if (rate && *rate > 0) {
      share = text::share(static_cast<std::uint64_t>(sent / static_cast<double>(*rate) * 1e6));
    }
    rows.push_back({cut(text(peer, "name"), 12), state_words(text(peer, "state")),
                    shown(peer, "rtt_us", text::duration), shown(peer, "loss_ppm", text::share),
                    shown(peer, "streams", text::count), text::bit_rate(sent), share,
                    growth.bits(was, is, field_of(&stp::Counters::bytes_in).name)});
  }
  return {{{"peer"},
           {"state"},
           {"rtt", text::Align::kRight},
           {"loss", text::Align::kRight},
           {"flows", text::Align::kRight},
           {"sends", text::Align::kRight},
           {"of link", text::Align::kRight},
           {"receives", text::Align::kRight}},
          std::move(rows)};
}

// Lists the busiest rules first, and leaves out rules without traffic.
Section rules_table(const TopSample& before, const TopSample& now, const Growth& growth) {
  using gateway::RuleUse;
  const Earlier earlier(before.rules, "rule");
  Busiest busiest;
  for (const Json& rule : now.rules) {
    const Json& was = earlier.of(rule);
    double bytes = 0;
    for (const char* key :
         {field_of(&RuleUse::bytes_from_lan).name, field_of(&RuleUse::bytes_to_lan).name,
          field_of(&RuleUse::bridged_bytes).name}) {
      bytes += growth.per_second(was, rule, key);
    }
    if (bytes + growth.per_second(was, rule, field_of(&RuleUse::dropped_frames).name) <= 0)
      continue;
    const std::string name = text(rule, "name");
    std::string which = shown(rule, "rule", text::plain);
    if (which == "0") which = "none";
    if (!name.empty() && name != "-") which += ' ' + name;
    busiest.add(bytes, {cut(which, 14), text(rule, "action"),
                        growth.bits(was, rule, field_of(&RuleUse::bytes_from_lan).name),
                        growth.bits(was, rule, field_of(&RuleUse::bytes_to_lan).name),
                        growth.bits(was, rule, field_of(&RuleUse::bridged_bytes).name),
                        growth.events(was, rule, field_of(&RuleUse::dropped_frames).name)});
  }
  return {{{"rule"},
           {"action"},
           {"from lan", text::Align::kRight},
           {"to lan", text::Align::kRight},
           {"bridged", text::Align::kRight},
           {"dropped", text::Align::kRight}},
          busiest.first(kMostRules)};
}

// Lists the busiest classes first, and leaves out classes that neither send nor hold frames.
Section classes_table(const TopSample& before, const TopSample& now, const Growth& growth,
                      std::size_t columns) {
  using gateway::ClassUse;
  const Earlier earlier(before.classes, "name");
  Busiest busiest;
  for (const Json& each : now.classes) {
    const Json& was = earlier.of(each);
    const double bytes = growth.per_second(was, each, field_of(&ClassUse::relayed_bytes).name) +
                         growth.per_second(was, each, field_of(&ClassUse::bridged_bytes).name);
    const bool waits =
        number(each, "hosts").value_or(0) + number(each, "held_frames").value_or(0) > 0;
    if (!waits &&
        bytes + growth.per_second(was, each, field_of(&ClassUse::dropped_frames).name) <= 0)
      continue;
    busiest.add(bytes,
                {text(each, "name"), unless_zero(each, "weight", text::plain),
                 unless_zero(each, "guaranteed_bps", bits_per_second),
                 unless_zero(each, "maximum_bps", bits_per_second), text::bit_rate(bytes * 8),
                 shown(each, "hosts", text::count), shown(each, "held_bytes", text::binary_bytes),
                 growth.events(was, each, field_of(&ClassUse::dropped_frames).name)});
  }
  Section table{{{"class"},
                 {"weight", text::Align::kRight},
                 {"guaranteed", text::Align::kRight},
                 {"maximum", text::Align::kRight},
                 {"sends", text::Align::kRight},
                 {"hosts", text::Align::kRight},
                 {"waiting", text::Align::kRight},
                 {"dropped", text::Align::kRight}},
                busiest.first(kMostClasses)};
  cut_first_column(table, columns);
  return table;
}

std::string flows_table(const TopSample& before, const TopSample& now, const Growth& growth,
                        std::size_t most, std::size_t columns) {
  // Number of characters in a line besides the two addresses: numbers, and gaps between columns.
  constexpr std::size_t kOthers = 44;
  const std::size_t each = columns > kOthers + 30 ? (columns - kOthers) / 2 : 15;
  const Earlier earlier(before.flows, "id");
  struct Entry {
    double bytes = 0;
    const Json* flow = nullptr;
  };
  std::vector<Entry> entries;
  for (const Json& flow : now.flows) {
    const Json& was = earlier.of(flow);
    entries.push_back({growth.per_second(was, flow, "from_lan_bytes") +
                           growth.per_second(was, flow, "to_lan_bytes"),
                       &flow});
  }
  std::ranges::stable_sort(entries, std::greater{}, &Entry::bytes);
  std::vector<Row> rows;
  for (const Entry& entry : entries) {
    if (rows.size() == most) break;
    const Json& flow = *entry.flow;
    const Json& was = earlier.of(flow);
    rows.push_back({text(flow, "id"), cut_endpoint(endpoint(flow, "client", "client_port"), each),
                    cut_endpoint(endpoint(flow, "server", "server_port"), each),
                    growth.bits(was, flow, "from_lan_bytes"),
                    growth.bits(was, flow, "to_lan_bytes"),
                    shown(flow, "lan_stored_bytes", text::binary_bytes)});
  }
  return text::format_table({{"flow", text::Align::kRight},
                             {"client"},
                             {"server"},
                             {"from lan", text::Align::kRight},
                             {"to lan", text::Align::kRight},
                             {"waiting", text::Align::kRight}},
                            rows);
}

// Removes the last row of the longest table repeatedly, until all tables together have at most
// `most` rows, or no table has more than kFewestRows.
void shorten(std::initializer_list<Section*> tables, std::size_t most) {
  const auto size = [](const Section* table) { return table->rows.size(); };
  const auto all = [&] {
    std::size_t sum = 0;
    for (const Section* table : tables) sum += size(table);
    return sum;
  };
  while (all() > most) {
    Section* longest = *std::ranges::max_element(tables, {}, size);
    if (size(longest) <= kFewestRows) return;
    longest->rows.pop_back();
  }
}

std::string paragraph(const Section& table) {
  return text::format_table(table.columns, table.rows) + '\n';
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

std::string render_top(const TopSample& before, const TopSample& now, ScreenSize size) {
  const Growth growth(before, now);
  const bool some_are_left_out = now.flows.size() < now.flows_in_all;
  std::string whole = headline(now);
  Section peers = peers_table(before, now, growth);
  Section rules = rules_table(before, now, growth);
  Section classes = classes_table(before, now, growth, size.columns);
  // Each table above the flows needs a line for its titles and an empty line after it. The table of
  // flows needs a line for its titles.
  const std::size_t others = lines_of(whole) + (classes.rows.empty() ? 4 : 6) + 1 +
                             std::min(now.flows.size(), kFewestFlows) + (some_are_left_out ? 1 : 0);
  shorten({&rules, &classes, &peers}, size.rows > others ? size.rows - others : 0);
  whole += paragraph(peers) + paragraph(rules);
  if (!classes.rows.empty()) whole += paragraph(classes);
  const std::size_t used = lines_of(whole) + 1;  // one more for the titles of the flows
  const std::size_t room = size.rows > used ? size.rows - used : 0;
  if (room > 0) {
    whole += flows_table(before, now, growth, some_are_left_out ? room - 1 : room, size.columns);
  }
  if (some_are_left_out) {
    whole += "of the first " + text::count(now.flows.size()) + " flows of " +
             text::count(now.flows_in_all) + "\n";
  }
  std::istringstream lines(whole);
  std::string out;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line) && count < size.rows; ++count) {
    out += cut(line, size.columns) + '\n';
  }
  return out;
}

}  // namespace satrelay::ctl
