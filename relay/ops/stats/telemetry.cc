#include "relay/ops/stats/telemetry.h"

#include <rte_telemetry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/model/words.h"
#include "relay/ops/stats/flow_pages.h"
#include "relay/ops/stats/telemetry_replies.h"

namespace satrelay::ops {
namespace {

constexpr std::chrono::seconds kPatience(1);

// These are globals, since DPDK 22.11 cannot pass a pointer to the function of a command.
std::shared_mutex current_mutex;
SnapshotBoard* current = nullptr;
const EventRing* current_events = nullptr;
const History* current_history = nullptr;
Telemetry::Records current_records;
Build current_build;

// Returns the result of `write(source)`, or an error, for which DPDK sends the client null. The
// commands are called from C code, so no exception may leave this function.
template <typename Source, typename Write>
int with(Source* const& source, const Write& write) noexcept {
  try {
    const std::shared_lock lock(current_mutex);
    return source != nullptr ? write(*source) : -ENODEV;
  } catch (const std::exception&) {
    return -ENOMEM;
  }
}

template <typename Write>
int with_board(const Write& write) noexcept {
  return with(current, write);
}

template <typename Write>
int with_snapshot(Write write) noexcept {
  return with_board([&](SnapshotBoard& board) {
    const auto published = board.latest();
    if (!published) return -EAGAIN;
    write(*published);
    return 0;
  });
}

std::string_view text_of(const char* params) {
  return params != nullptr ? std::string_view(params) : std::string_view();
}

int status(const char* /*command*/, const char* /*params*/, rte_tel_data* reply) {
  return with_snapshot([&](const SnapshotBoard::Published& published) {
    TelemetryDict dict(reply);
    write_status(published, current_build, dict);
  });
}

int counters(const char* /*command*/, const char* /*params*/, rte_tel_data* reply) {
  return with_snapshot([&](const SnapshotBoard::Published& published) {
    TelemetryDict dict(reply);
    write_counters(published.snapshot->counters, dict);
  });
}

int ports(const char* /*command*/, const char* /*params*/, rte_tel_data* reply) {
  return with_snapshot([&](const SnapshotBoard::Published& published) {
    TelemetryDict dict(reply);
    for (const PortSnapshot& port : published.snapshot->ports) {
      dict.add(port.name.c_str(), to_dict(port));
    }
  });
}

// Writes a page of a snapshot's entries.
template <typename Entry>
int page_of(const char* params, std::size_t most, rte_tel_data* reply,
            std::vector<Entry> Snapshot::*entries) {
  const auto page = parse_page(text_of(params), most);
  if (!page) return -EINVAL;
  return with_snapshot([&](const SnapshotBoard::Published& published) {
    const std::vector<Entry>& all = (*published.snapshot).*entries;
    TelemetryDict dict(reply);
    const std::size_t first = std::min(page->first, all.size());
    const std::size_t end = first + std::min(page->count, all.size() - first);
    for (std::size_t i = first; i < end; ++i) dict.add(std::to_string(i).c_str(), to_dict(all[i]));
  });
}

int peers(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return page_of(params, kPeersPerPage, reply, &Snapshot::peers);
}

int histograms(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return page_of(params, kHistogramsPerPage, reply, &Snapshot::histograms);
}

// Lets the worker run `query`, and writes the result.
template <typename Query, typename Write>
int with_live(const Query& query, const Write& write) noexcept {
  return with_board([&](SnapshotBoard& board) {
    const auto found = board.ask(query, kPatience);
    if (!found) return -ETIMEDOUT;
    write(*found);
    return 0;
  });
}

template <typename Entry>
std::vector<Entry> part_of(std::vector<Entry> all, std::size_t first, std::size_t count) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size())));
  if (all.size() > count) all.resize(count);
  return all;
}

template <typename Entry>
void write_listing(const std::vector<Entry>& entries, std::size_t first, rte_tel_data* reply) {
  TelemetryDict dict(reply);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    dict.add(std::to_string(first + i).c_str(), to_dict(entries[i]));
  }
}

// `list(view, first, count)` returns the entries of a page.
template <typename List>
int listing(const char* params, std::size_t most, rte_tel_data* reply, const List& list) {
  const auto page = parse_page(text_of(params), most);
  if (!page) return -EINVAL;
  return with_live([&](const LiveView& view) { return list(view, page->first, page->count); },
                   [&](const auto& entries) { write_listing(entries, page->first, reply); });
}

int rules(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return listing(params, kRulesPerPage, reply,
                 [](const LiveView& view, std::size_t first, std::size_t count) {
                   return view.rules(first, count);
                 });
}

int classes(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return listing(params, kClassesPerPage, reply,
                 [](const LiveView& view, std::size_t first, std::size_t count) {
                   return part_of(view.classes(), first, count);
                 });
}

int links(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return page_of(params, kLinksPerPage, reply, &Snapshot::links);
}

int bridged(const char* /*command*/, const char* params, rte_tel_data* reply) {
  return listing(params, kBridgedPerPage, reply,
                 [](const LiveView& view, std::size_t first, std::size_t count) {
                   return part_of(view.bridged(), first, count);
                 });
}

int flows(const char* /*command*/, const char* params, rte_tel_data* reply) {
  // Each client needs pages of its own (FlowPages). DPDK handles each connection of a client in a
  // thread of its own, so the pages of a thread belong to one client.
  thread_local FlowPages pages;
  const auto page = parse_page(text_of(params), kFlowsPerPage);
  if (!page) return -EINVAL;
  return with_board([&](SnapshotBoard& board) {
    const auto ask = [&](std::size_t first, std::size_t count) {
      return board.ask([&](const LiveView& view) { return view.flows(first, count); }, kPatience);
    };
    const auto found = pages.page(page->first, page->count, ask, FlowPages::Clock::now());
    if (!found) return -ETIMEDOUT;
    write_listing(*found, page->first, reply);
    return 0;
  });
}

int flow(const char* /*command*/, const char* params, rte_tel_data* reply) {
  const auto number = parse_number(text_of(params));
  if (!number) return -EINVAL;
  return with_live([&](const LiveView& view) { return view.flow(*number); },
                   [&](const std::optional<gateway::FlowSnapshot>& found) {
                     TelemetryDict dict(reply);
                     if (found) write_flow(*found, dict);
                   });
}

int explain(const char* /*command*/, const char* params, rte_tel_data* reply) {
  const auto key = parse_policy_key(text_of(params));
  if (!key) return -EINVAL;
  return with_live([&](const LiveView& view) { return view.explain(*key); },
                   [&](const gateway::Explanation& explanation) {
                     TelemetryDict dict(reply);
                     write_explanation(explanation, dict);
                   });
}

int events(const char* /*command*/, const char* params, rte_tel_data* reply) {
  const auto page = parse_page(text_of(params), kEventsPerPage);
  if (!page) return -EINVAL;
  return with(current_events, [&](const EventRing& ring) {
    TelemetryDict dict(reply);
    for (const NumberedEvent& event : ring.from(page->first, page->count)) {
      dict.add(std::to_string(event.number).c_str(), to_dict(event));
    }
    return 0;
  });
}

int event_numbers(const char* /*command*/, const char* /*params*/, rte_tel_data* reply) {
  return with(current_events, [&](const EventRing& ring) {
    TelemetryDict dict(reply);
    write_event_numbers(ring.numbers(), dict);
    return 0;
  });
}

int history(const char* /*command*/, const char* params, rte_tel_data* reply) {
  const auto question = parse_history_question(text_of(params), kHistoryPerPage);
  if (!question) return -EINVAL;
  return with(current_history, [&](const History& kept) {
    TelemetryDict dict(reply);
    std::size_t position = question->page.first;
    for (const HistoryPoint& point :
         kept.points(question->of, question->name, position, question->page.count)) {
      dict.add(std::to_string(position++).c_str(), to_dict(point));
    }
    return 0;
  });
}

int records(const char* /*command*/, const char* /*params*/, rte_tel_data* reply) {
  return with_snapshot([&](const SnapshotBoard::Published& published) {
    std::uint64_t lost = 0;
    for (const WorkerSnapshot& worker : published.snapshot->workers) {
      lost += worker.counters.records_lost;
    }
    TelemetryDict dict(reply);
    write_records(current_records ? current_records() : records::RecordsReport(), lost, dict);
  });
}

struct Command {
  const char* name;
  telemetry_cb callback;
  const char* help;
};

constexpr Command kCommands[] = {
    {"/satrelay/status", status, "Uptime, flows, memory and sums over all flows. No parameters."},
    {"/satrelay/ports", ports, "The LAN and the WAN port, by name. No parameters."},
    {"/satrelay/peers", peers, "The far gateways, by position, paged. Parameters: first,count"},
    {"/satrelay/links", links,
     "The rates of each link, by position, paged. Parameters: first,count"},
    {"/satrelay/rules", rules,
     "The connections and bytes of each rule, paged. Parameters: first,count"},
    {"/satrelay/classes", classes,
     "The traffic classes: settings, queues and sent bytes, paged. Parameters: first,count"},
    {"/satrelay/histograms", histograms,
     "Histograms of waits and durations, by class or worker, paged. Parameters: first,count"},
    {"/satrelay/explain", explain,
     "Which rule holds for a packet, and why. Parameters: "
     "source,destination,port,protocol,vlan,dscp,outbound|inbound"},
    {"/satrelay/flows", flows,
     "The relayed TCP connections, by position, paged. Parameters: first,count"},
    {"/satrelay/flow", flow,
     "All fields of one relayed TCP connection; empty if it has ended. Parameter: its id in "
     "/satrelay/flows"},
    {"/satrelay/bridged", bridged,
     "The latest connections that were bridged instead of relayed, newest first, paged. "
     "Parameters: first,count"},
    {"/satrelay/counters", counters,
     "Why frames were bridged or dropped and flows ended. No parameters."},
    {"/satrelay/records", records, "Records of flows: written, exported, lost. No parameters."},
    {"/satrelay/events", events,
     "The events, by number, oldest first, paged. Parameters: first,count"},
    {"/satrelay/history", history,
     "The last hour in steps of ten seconds, newest first, paged. "
     "Parameters: gateway,first,count or link|peer|class,name,first,count"},
    {"/satrelay/event_numbers", event_numbers,
     "The numbers of the events that are kept, and the run of the gateway. No parameters."},
};

}  // namespace

Telemetry::Telemetry(SnapshotBoard& board, const EventRing& events, const History& history,
                     Records records, Build build) {
  static bool registered = false;
  const std::unique_lock lock(current_mutex);
  if (!registered) {
    for (const Command& command : kCommands) {
      if (rte_telemetry_register_cmd(command.name, command.callback, command.help) != 0) {
        throw std::runtime_error(std::string("DPDK telemetry refuses the command ") + command.name);
      }
    }
    registered = true;
  }
  current = &board;
  current_events = &events;
  current_history = &history;
  current_records = std::move(records);
  current_build = std::move(build);
}

Telemetry::~Telemetry() {
  const std::unique_lock lock(current_mutex);
  current = nullptr;
  current_events = nullptr;
  current_history = nullptr;
  current_records = nullptr;
}

std::optional<HistoryQuestion> parse_history_question(std::string_view text, std::size_t most) {
  const auto next_word = [&] {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    return word;
  };
  HistoryQuestion question;
  if (!text.empty()) {
    const auto of = history_of(next_word());
    if (!of) return std::nullopt;
    question.of = *of;
    if (*of != HistoryOf::kGateway) question.name = next_word();
    if (*of != HistoryOf::kGateway && question.name.empty()) return std::nullopt;
  }
  const auto page = parse_page(text, most);
  if (!page) return std::nullopt;
  question.page = *page;
  return question;
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<gateway::PolicyKey> parse_policy_key(std::string_view text) {
  std::array<std::string_view, 7> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t comma = text.find(',');
    words[i] = text.substr(0, comma);
    if ((comma == std::string_view::npos) != (i + 1 == words.size())) return std::nullopt;
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  }
  const auto source = IpAddress::parse(words[0]);
  const auto destination = IpAddress::parse(words[1]);
  const auto port = parse_number(words[2]);
  const auto protocol = parse_number(words[3]);
  const auto vlan = parse_number(words[4]);
  const auto dscp = parse_number(words[5]);
  const auto direction = config::from_word<config::Direction>(words[6]);
  if (!source || !destination || source->version() != destination->version() || !direction ||
      port.value_or(65'536) > 65'535 || protocol.value_or(256) > 255 ||
      vlan.value_or(config::kMostVlanId + 1U) > config::kMostVlanId ||
      dscp.value_or(config::kMostDscp + 1U) > config::kMostDscp) {
    return std::nullopt;
  }
  return gateway::PolicyKey{.source = *source,
                            .destination = *destination,
                            .port = static_cast<std::uint16_t>(*port),
                            .protocol = static_cast<std::uint8_t>(*protocol),
                            .vlan = static_cast<std::uint16_t>(*vlan),
                            .dscp = static_cast<std::uint8_t>(*dscp),
                            .direction = *direction,
                            .peer = std::nullopt};
}

std::optional<Page> parse_page(std::string_view text, std::size_t most) {
  if (text.empty()) return Page{0, most};
  const std::size_t comma = text.find(',');
  const auto first = parse_number(text.substr(0, comma));
  const auto count = comma == std::string_view::npos ? std::optional<std::uint64_t>(most)
                                                     : parse_number(text.substr(comma + 1));
  if (!first || !count) return std::nullopt;
  return Page{*first, std::min(*count, most)};
}

}  // namespace satrelay::ops
