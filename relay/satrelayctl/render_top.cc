#include "relay/satrelayctl/render_top.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "relay/satrelayctl/reply.h"
#include "relay/satrelayctl/scale.h"
#include "relay/satrelayctl/table.h"

namespace satrelay::ctl {
namespace {

constexpr std::size_t kMostRules = 4;
constexpr std::size_t kMostPeers = 6;

using Row = std::vector<std::string>;

std::string cut(std::string text, std::size_t most) {
  if (text.size() > most) {
    text.resize(most);
    text.back() = '~';
  }
  return text;
}

// Of an address with its port, both ends matter.
std::string cut_endpoint(const std::string& text, std::size_t most) {
  constexpr std::size_t kPort = 6;  // ":65535"
  if (text.size() <= most) return text;
  return text.substr(0, most - kPort - 1) + '~' + text.substr(text.size() - kPort);
}

// What two samples say of one number that only grows.
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
    return human_rate(static_cast<std::uint64_t>(per_second(before, now, key) * 8));
  }

 private:
  double seconds_;
};

// The entry of `list` that is the same thing as `entry`, by `key`; null if it is new.
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

std::string headline(const TopSample& now) {
  std::string line = "up " + shown(now.status, "uptime_ms", milliseconds) + "   flows " +
                     shown(now.status, "flows", human_count) + ", half-open " +
                     shown(now.status, "half_open", human_count);
  if (const std::string admission = text(now.status, "new_flows");
      admission != "open" && admission != "-") {
    line += "   new flows bridged (" + admission + ")";
  }
  const auto used = number(now.status, "arena_used_bytes");
  const auto all = number(now.status, "arena_bytes");
  if (used && all && *all > 0) {
    const double share = static_cast<double>(*used) / static_cast<double>(*all);
    line += "   memory " + human_share(static_cast<std::uint64_t>(share * 1e6)) + " of " +
            human_bytes(*all);
  }
  return line + "\n\n";
}

std::string peers_table(const TopSample& before, const TopSample& now, const Growth& growth) {
  const Earlier earlier(before.peers, "name");
  std::vector<Row> rows;
  for (const Json& peer : now.peers) {
    if (rows.size() == kMostPeers) break;
    const Json& was = member(earlier.of(peer), "counters");
    const Json& is = member(peer, "counters");
    const double sent = growth.per_second(was, is, "bytes_out") * 8;
    const auto rate = number(peer, "send_rate_bps");
    std::string share = "-";
    if (rate && *rate > 0) {
      share = human_share(static_cast<std::uint64_t>(sent / static_cast<double>(*rate) * 1e6));
    }
    rows.push_back(
        {cut(text(peer, "name"), 12), text(peer, "state"), shown(peer, "rtt_us", human_duration),
         shown(peer, "loss_ppm", human_share), shown(peer, "streams", human_count),
         human_rate(static_cast<std::uint64_t>(sent)), share, growth.bits(was, is, "bytes_in")});
  }
  return format_table({{"peer"},
                       {"state"},
                       {"rtt", Align::kRight},
                       {"loss", Align::kRight},
                       {"flows", Align::kRight},
                       {"sends", Align::kRight},
                       {"of link", Align::kRight},
                       {"receives", Align::kRight}},
                      rows);
}

// The busiest first; those that nothing falls under are left out.
std::string rules_table(const TopSample& before, const TopSample& now, const Growth& growth) {
  const Earlier earlier(before.rules, "rule");
  struct Entry {
    double bytes = 0;
    Row row;
  };
  std::vector<Entry> entries;
  for (const Json& rule : now.rules) {
    const Json& was = earlier.of(rule);
    double bytes = 0;
    for (const char* key : {"from_lan_bytes", "to_lan_bytes", "bridged_bytes"}) {
      bytes += growth.per_second(was, rule, key);
    }
    const double dropped = growth.per_second(was, rule, "dropped_frames");
    if (bytes + dropped <= 0) continue;
    const std::string name = text(rule, "name");
    std::string which = shown(rule, "rule", plain);
    if (which == "0") which = "none";
    if (!name.empty() && name != "-") which += ' ' + name;
    entries.push_back(
        {bytes,
         {cut(which, 14), text(rule, "action"), growth.bits(was, rule, "from_lan_bytes"),
          growth.bits(was, rule, "to_lan_bytes"), growth.bits(was, rule, "bridged_bytes"),
          human_count(static_cast<std::uint64_t>(dropped)) + "/s"}});
  }
  std::ranges::stable_sort(entries, std::greater{}, &Entry::bytes);
  std::vector<Row> rows;
  for (Entry& entry : entries) {
    if (rows.size() < kMostRules) rows.push_back(std::move(entry.row));
  }
  return format_table({{"rule"},
                       {"action"},
                       {"from lan", Align::kRight},
                       {"to lan", Align::kRight},
                       {"bridged", Align::kRight},
                       {"dropped", Align::kRight}},
                      rows);
}

std::string flows_table(const TopSample& before, const TopSample& now, const Growth& growth,
                        std::size_t most, std::size_t columns) {
  // What the figures and the gaps beside the two addresses take.
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
    rows.push_back(
        {shown(flow, "id", plain), cut_endpoint(endpoint(flow, "client", "client_port"), each),
         cut_endpoint(endpoint(flow, "server", "server_port"), each),
         growth.bits(was, flow, "from_lan_bytes"), growth.bits(was, flow, "to_lan_bytes"),
         shown(flow, "lan_stored_bytes", human_bytes)});
  }
  return format_table({{"flow", Align::kRight},
                       {"client"},
                       {"server"},
                       {"from lan", Align::kRight},
                       {"to lan", Align::kRight},
                       {"waiting", Align::kRight}},
                      rows);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

std::string render_top(const TopSample& before, const TopSample& now, ScreenSize size) {
  const Growth growth(before, now);
  std::string whole = headline(now) + peers_table(before, now, growth) + "\n" +
                      rules_table(before, now, growth) + "\n";
  const std::size_t used = lines_of(whole) + 1;  // and the flows' titles
  const std::size_t room = size.rows > used ? size.rows - used : 0;
  const bool some_are_left_out = now.flows.size() < now.flows_in_all;
  if (room > 0) {
    whole += flows_table(before, now, growth, some_are_left_out ? room - 1 : room, size.columns);
  }
  if (some_are_left_out) {
    whole += "of the first " + human_count(now.flows.size()) + " flows of " +
             human_count(now.flows_in_all) + "\n";
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
