#include "config/link/read_link_changes.h"

#include <algorithm>
#include <string>

#include "config/link/trace_file.h"

namespace satrelay::config {
namespace {

constexpr Duration kDay = Duration::seconds(86'400);
constexpr Bounds<Duration> kTime{Duration::zero(), kDay};
constexpr Bounds<Duration> kPeriod{Duration::milliseconds(1), kDay};
constexpr Bounds<Duration> kDelay{Duration::zero(), Duration::seconds(10)};
constexpr Bounds<BitRate> kRate{BitRate::bits_per_second(1'000),
                                BitRate::bits_per_second(100'000'000'000)};

// The values of a key. Each time the change happens, the next value takes its turn.
template <typename T, typename Read>
std::vector<T> read_list(const Value* value, Read&& read) {
  std::vector<T> list;
  if (value == nullptr) return list;
  for (const Value& item : value->items_or_single()) list.push_back(read(item));
  if (list.empty()) value->fail("is empty; write one value, or several that take turns");
  return list;
}

template <typename T>
std::optional<T> in_turn(const std::vector<T>& list, std::size_t turn) {
  if (list.empty()) return std::nullopt;
  return list[turn % list.size()];
}

// The directions that `ways` names.
std::vector<LinkDirection*> chosen(LinkDirections& directions, LinkWays ways) {
  std::vector<LinkDirection*> list;
  if (ways != LinkWays::kBToA) list.push_back(&directions.a_to_b);
  if (ways != LinkWays::kAToB) list.push_back(&directions.b_to_a);
  return list;
}

// Reads the traces of one direction, or of both.
void read_traces_of(const Value& value, LinkWays ways, const std::filesystem::path& folder,
                    LinkDirections& directions, std::vector<LinkChange>& changes) {
  const Fields fields = value.fields({"loss", "delay"});
  if (const Value* loss = fields.find("loss")) {
    const LossTrace trace = read_loss_trace(folder / loss->text("write a file's name"));
    for (LinkDirection* direction : chosen(directions, ways)) {
      if (direction->loss > 0 || direction->gilbert_elliott) {
        loss->fail("contradicts the direction's loss; write one of the two");
      }
      direction->loss_trace = trace;
    }
  }
  if (const Value* delay = fields.find("delay")) {
    for (const DelayStep& step : read_delay_trace(folder / delay->text("write a file's name"))) {
      changes.push_back({.at = step.at, .ways = ways, .delay = step.delay});
    }
    if (changes.size() > kMostLinkChanges) {
      delay->fail("brings the changes above " + std::to_string(kMostLinkChanges));
    }
  }
}

void add_steps(const LinkChange& change, LinkDirection& direction) {
  if (change.rate) direction.rate_steps.push_back({change.at, *change.rate});
  if (change.delay) direction.delay_steps.push_back({change.at, *change.delay});
  if (change.loss) direction.loss_steps.push_back({change.at, *change.loss});
  if (change.outage) direction.outages.push_back({change.at, *change.outage});
}

}  // namespace

ChangeEntry read_link_change(const Value& value, AnnouncedKey announced) {
  ChangeEntry entry{.fields = announced == AnnouncedKey::kKnown
                                  ? value.fields({"at", "every", "until", "direction", "rate",
                                                  "announced", "delay", "loss", "outage"})
                                  : value.fields({"at", "every", "until", "direction", "rate",
                                                  "delay", "loss", "outage"}),
                    .at = Duration::zero(),
                    .rates = {},
                    .delays = {},
                    .losses = {},
                    .outage = {}};
  const Fields& fields = entry.fields;
  entry.at = fields.require("at", "write when it happens, like 10s").duration(kTime);
  if (const Value* direction = fields.find("direction")) {
    entry.ways = direction->word<LinkWays>(
        {{"both", LinkWays::kBoth}, {"a_to_b", LinkWays::kAToB}, {"b_to_a", LinkWays::kBToA}});
  }
  entry.rates =
      read_list<BitRate>(fields.find("rate"), [](const Value& v) { return v.rate(kRate); });
  entry.losses = read_list<double>(fields.find("loss"), [](const Value& v) { return v.share(); });
  entry.delays =
      read_list<Duration>(fields.find("delay"), [](const Value& v) { return v.duration(kDelay); });
  if (const Value* length = fields.find("outage")) entry.outage = length->duration(kPeriod);
  if (entry.rates.empty() && entry.losses.empty() && entry.delays.empty() && !entry.outage) {
    value.fail("changes nothing; write rate, delay, loss or outage");
  }
  if (const Value* period = fields.find("every")) entry.every = period->duration(kPeriod);
  if (const Value* end = fields.find("until")) {
    if (entry.every.is_infinite()) end->fail("has no effect without every; write how often");
    entry.until = end->duration(kTime);
  }
  if (entry.outage && *entry.outage >= entry.every) {
    fields.find("outage")->fail("is not shorter than every; write a shorter one");
  }
  return entry;
}

std::vector<LinkChange> occurrences(const Value& value, const ChangeEntry& entry, Duration end,
                                    std::size_t already) {
  std::vector<LinkChange> list;
  const Duration until = std::min(entry.until, end);
  for (Duration when = entry.at; when < until; when = when + entry.every) {
    const std::size_t turn = list.size();
    if (already + turn >= kMostLinkChanges) {
      value.fail("brings the changes above " + std::to_string(kMostLinkChanges) +
                 "; write a longer every");
    }
    list.push_back({.at = when,
                    .ways = entry.ways,
                    .rate = in_turn(entry.rates, turn),
                    .delay = in_turn(entry.delays, turn),
                    .loss = in_turn(entry.losses, turn),
                    .outage = entry.outage});
  }
  return list;
}

std::vector<LinkChange> read_link_traces(const Value& value, const std::filesystem::path& folder,
                                         LinkDirections& directions) {
  std::vector<LinkChange> changes;
  const Fields fields = value.fields({"both", "a_to_b", "b_to_a"});
  if (const Value* both = fields.find("both")) {
    read_traces_of(*both, LinkWays::kBoth, folder, directions, changes);
  }
  if (const Value* one = fields.find("a_to_b")) {
    read_traces_of(*one, LinkWays::kAToB, folder, directions, changes);
  }
  if (const Value* one = fields.find("b_to_a")) {
    read_traces_of(*one, LinkWays::kBToA, folder, directions, changes);
  }
  return changes;
}

QueueDiscipline read_queue_discipline(const Value& value) {
  return value.word<QueueDiscipline>(
      {{"tail_drop", QueueDiscipline::kTailDrop}, {"priority", QueueDiscipline::kPriority}});
}

void read_timed_link(const Fields& fields, const std::filesystem::path& folder,
                     LinkDirections& directions) {
  if (const Value* discipline = fields.find("discipline")) {
    directions.a_to_b.discipline = directions.b_to_a.discipline =
        read_queue_discipline(*discipline);
  }
  std::vector<LinkChange> changes;
  if (const Value* traces = fields.find("traces")) {
    changes = read_link_traces(*traces, folder, directions);
  }
  if (const Value* list = fields.find("changes")) {
    for (const Value& value : list->items("write a list of changes")) {
      const ChangeEntry entry = read_link_change(value, AnnouncedKey::kUnknown);
      // The end is exclusive, and a change may happen at exactly 24 h.
      const auto more = occurrences(value, entry, kDay + Duration::nanoseconds(1), changes.size());
      changes.insert(changes.end(), more.begin(), more.end());
    }
  }
  std::ranges::stable_sort(changes, {}, &LinkChange::at);
  for (const LinkChange& change : changes) {
    for (LinkDirection* direction : chosen(directions, change.ways)) add_steps(change, *direction);
  }
}

}  // namespace satrelay::config
