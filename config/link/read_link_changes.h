// The changes of a link over time: `changes`, `traces` and `discipline` of link.yaml and of
// satlab's scenarios.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "config/keys/key.h"
#include "config/link/read_sat_link.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// A change at one time. An absent member leaves its property unchanged.
struct LinkChange {
  Duration at;
  LinkWays ways = LinkWays::kBoth;
  std::optional<BitRate> rate = std::nullopt;
  std::optional<Duration> delay = std::nullopt;
  std::optional<double> loss = std::nullopt;
  std::optional<Duration> outage = std::nullopt;  // an outage of this length begins
};

inline constexpr std::size_t kMostLinkChanges = 100'000;

// One entry of `changes`. Each repetition uses the next value of each list, and starts over after
// the last.
struct RepeatedChange {
  Duration at;
  LinkWays ways = LinkWays::kBoth;
  std::vector<BitRate> rates;
  std::vector<Duration> delays;
  std::vector<double> losses;
  std::optional<Duration> outage;
  Duration every = Duration::infinite();
  Duration until = Duration::infinite();
};
struct ChangeEntry : RepeatedChange {
  Fields fields;
};
// Whether an entry may have the key `announced`. The caller reads that key.
enum class AnnouncedKey : std::uint8_t { kUnknown, kKnown };
const Keys<RepeatedChange>& change_keys(AnnouncedKey announced);
ChangeEntry read_link_change(const Value& value, AnnouncedKey announced);

// Returns the changes of an entry before `end`. `already` is the number of changes that other
// entries make. Throws ConfigError if all changes together are more than kMostLinkChanges.
std::vector<LinkChange> occurrences(const Value& value, const ChangeEntry& entry, Duration end,
                                    std::size_t already);

// Reads `traces`. Stores the losses in `directions`, and returns the steps of the delay. `folder`
// is the folder of the trace files.
std::vector<LinkChange> read_link_traces(const Value& value, const std::filesystem::path& folder,
                                         LinkDirections& directions);

QueueDiscipline read_queue_discipline(const Value& value);

// Reads `discipline`, `traces` and `changes` from the fields of link.yaml into `directions`. A
// change that repeats without an end is repeated for a day.
void read_timed_link(const Fields& fields, const std::filesystem::path& folder,
                     LinkDirections& directions);

}  // namespace satrelay::config
