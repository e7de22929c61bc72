#include "config/link/read_link_changes.h"

#include <algorithm>
#include <string>

#include "config/keys/kinds.h"
#include "config/link/link_words.h"
#include "config/link/trace_file.h"

namespace satrelay::config {
namespace {

constexpr Duration kDay = Duration::seconds(86'400);
constexpr Bounds<Duration> kTime{Duration::zero(), kDay};
constexpr Bounds<Duration> kPeriod{Duration::milliseconds(1), kDay};
constexpr Bounds<Duration> kDelay{Duration::zero(), Duration::seconds(10)};
constexpr Bounds<BitRate> kRate{BitRate::bits_per_second(1'000),
                                BitRate::bits_per_second(100'000'000'000)};

// A list of values for a key. Each repetition of the change uses the next value.
template <typename T>
Kind<std::vector<T>> in_turns(Kind<T> one) {
  return {
      .read =
          [read = one.read](const Value& value) {
            std::vector<T> list;
            const std::vector<Value> items = value.items_or_single();
            for (const Value& item : items) {
              item.attempt([&] { list.push_back(read(item)); });
            }
            if (items.empty()) value.fail("is empty; write one value, or several that take turns");
            return list;
          },
      .show =
          [show = one.show](const std::vector<T>& list) {
            std::string text;
            for (const T& value : list) text += (text.empty() ? "" : ", ") + show(value);
            return text.empty() ? std::string("as it was") : text;
          },
      .allowed = one.allowed,
      .unit = one.unit,
  };
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
  fields.read("loss", [&](const Value& loss) {
    const LossTrace trace = read_loss_trace(folder / loss.text("write a file's name"));
    for (LinkDirection* direction : chosen(directions, ways)) {
      if (direction->loss > 0 || direction->gilbert_elliott) {
        loss.fail("contradicts the direction's loss; write one of the two");
      }
      direction->loss_trace = trace;
    }
  });
  fields.read("delay", [&](const Value& delay) {
    for (const DelayStep& step : read_delay_trace(folder / delay.text("write a file's name"))) {
      changes.push_back({.at = step.at, .ways = ways, .delay = step.delay});
    }
    if (changes.size() > kMostLinkChanges) {
      delay.fail("brings the changes above " + std::to_string(kMostLinkChanges));
    }
  });
}

void add_steps(const LinkChange& change, LinkDirection& direction) {
  if (change.rate) direction.rate_steps.push_back({change.at, *change.rate});
  if (change.delay) direction.delay_steps.push_back({change.at, *change.delay});
  if (change.loss) direction.loss_steps.push_back({change.at, *change.loss});
  if (change.outage) direction.outages.push_back({change.at, *change.outage});
}

std::vector<Key<RepeatedChange>> change_rows(AnnouncedKey announced) {
  using Change = RepeatedChange;
  std::vector<Key<Change>> rows{
      key<Change>({.name = "at",
                   .help = "The time of the change.",
                   .required = "write when it happens, like 10s"},
                  &Change::at, duration(kTime)),
      key<Change>({.name = "every", .help = "The time between repetitions.", .fallback = "once"},
                  &Change::every, duration(kPeriod)),
      key<Change>({.name = "until", .help = "The end of the repetitions.", .fallback = "a day"},
                  &Change::until, duration(kTime)),
      key<Change>({.name = "direction", .help = "The directions that change."}, &Change::ways,
                  word(Change().ways)),
      key<Change>({.name = "rate", .help = "The new rate."}, &Change::rates, in_turns(rate(kRate))),
      key<Change>({.name = "delay", .help = "The new delay."}, &Change::delays,
                  in_turns(duration(kDelay))),
      key<Change>({.name = "loss", .help = "The new share of lost frames."}, &Change::losses,
                  in_turns(share("a share"))),
      key<Change>({.name = "outage", .help = "How long all frames are lost."}, &Change::outage,
                  or_none(duration(kPeriod))),
  };
  if (announced == AnnouncedKey::kKnown) {
    const auto behind =
        std::ranges::find(rows, "delay", [](const auto& row) { return row.text.name; });
    rows.insert(behind,
                key_of_section<Change>({.name = "announced",
                                        .help = "Whether the gateways are told of the new rate.",
                                        .fallback = "no",
                                        .allowed = "or yes"},
                                       [](const Change&) { return std::string(); }));
  }
  return rows;
}

}  // namespace

const Keys<RepeatedChange>& change_keys(AnnouncedKey announced) {
  static const Keys<RepeatedChange> of_a_link(change_rows(AnnouncedKey::kUnknown));
  static const Keys<RepeatedChange> of_a_scenario(change_rows(AnnouncedKey::kKnown));
  return announced == AnnouncedKey::kKnown ? of_a_scenario : of_a_link;
}

ChangeEntry read_link_change(const Value& value, AnnouncedKey announced) {
  const Keys<RepeatedChange>& keys = change_keys(announced);
  ChangeEntry entry{RepeatedChange(), keys.fields(value)};
  const Fields& fields = entry.fields;
  keys.must_have(fields, "at");
  keys.read(fields, entry);
  // With a mistake in the entry, its times and values are not known, and so not compared.
  if (value.is_wrong()) return entry;
  if (entry.rates.empty() && entry.losses.empty() && entry.delays.empty() && !entry.outage) {
    value.fail("changes nothing; write rate, delay, loss or outage");
  }
  if (const Value* end = fields.find("until"); end != nullptr && entry.every.is_infinite()) {
    end->fail("has no effect without every; write how often");
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
  const auto read = [&](const char* key, LinkWays ways) {
    fields.read(key, [&](const Value& traces) {
      read_traces_of(traces, ways, folder, directions, changes);
    });
  };
  read("both", LinkWays::kBoth);
  read("a_to_b", LinkWays::kAToB);
  read("b_to_a", LinkWays::kBToA);
  return changes;
}

QueueDiscipline read_queue_discipline(const Value& value) { return value.word<QueueDiscipline>(); }

void read_timed_link(const Fields& fields, const std::filesystem::path& folder,
                     LinkDirections& directions) {
  fields.read("discipline", [&](const Value& discipline) {
    directions.a_to_b.discipline = directions.b_to_a.discipline = read_queue_discipline(discipline);
  });
  std::vector<LinkChange> changes;
  fields.read("traces",
              [&](const Value& traces) { changes = read_link_traces(traces, folder, directions); });
  fields.read("changes", [&](const Value& list) {
    for (const Value& value : list.items("write a list of changes")) {
      value.attempt([&] {
        const ChangeEntry entry = read_link_change(value, AnnouncedKey::kUnknown);
        if (value.is_wrong()) return;
        // Adds a nanosecond, because the end is exclusive and a change may happen at exactly 24 h.
        const auto more =
            occurrences(value, entry, kDay + Duration::nanoseconds(1), changes.size());
        changes.insert(changes.end(), more.begin(), more.end());
      });
    }
  });
  std::ranges::stable_sort(changes, {}, &LinkChange::at);
  for (const LinkChange& change : changes) {
    for (LinkDirection* direction : chosen(directions, change.ways)) add_steps(change, *direction);
  }
}

}  // namespace satrelay::config
