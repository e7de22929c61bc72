// What happens to a link over time: `changes`, `traces` and `discipline`, as link.yaml and satlab's
// scenarios have them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "config/link/read_sat_link.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// What an absent member leaves as it is.
struct LinkChange {
  Duration at;
  LinkWays ways = LinkWays::kBoth;
  std::optional<BitRate> rate = std::nullopt;
  std::optional<Duration> delay = std::nullopt;
  std::optional<double> loss = std::nullopt;
  std::optional<Duration> outage = std::nullopt;  // begins, for so long
};

inline constexpr std::size_t kMostLinkChanges = 100'000;

// One entry of `changes`: values that take turns, each time it happens.
struct ChangeEntry {
  Fields fields;
  Duration at;
  LinkWays ways = LinkWays::kBoth;
  std::vector<BitRate> rates;
  std::vector<Duration> delays;
  std::vector<double> losses;
  std::optional<Duration> outage;
  Duration every = Duration::infinite();
  Duration until = Duration::infinite();
};
// Whether the key `announced` may be there, which the caller reads.
enum class AnnouncedKey : std::uint8_t { kUnknown, kKnown };
ChangeEntry read_link_change(const Value& value, AnnouncedKey announced);

// Each time before `end` at which the entry happens. `already`: changes there are without it.
std::vector<LinkChange> occurrences(const Value& value, const ChangeEntry& entry, Duration end,
                                    std::size_t already);

// Reads `traces`: the losses go into `directions`, the steps of the delay are the answer. `folder`:
// where the files are looked for.
std::vector<LinkChange> read_link_traces(const Value& value, const std::filesystem::path& folder,
                                         LinkDirections& directions);

QueueDiscipline read_queue_discipline(const Value& value);

// All three, out of the fields of link.yaml, as steps of the directions. What repeats without an
// end goes on for a day.
void read_timed_link(const Fields& fields, const std::filesystem::path& folder,
                     LinkDirections& directions);

}  // namespace satrelay::config
