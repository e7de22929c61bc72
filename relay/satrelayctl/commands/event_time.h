// Converts times of events from and to the form in which people write them, in this machine's time
// zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace satrelay::ctl {

// Returns milliseconds since 1970, UTC. "10min": that long ago. "14:30" or "14:30:05": the latest
// such time that has passed. Or a date: "2026-11-25", "2026-11-25 14:30" or "2026-11-25T14:30:05".
// nullopt for any other text.
std::optional<std::uint64_t> parse_since(std::string_view text, std::uint64_t now_ms);
inline constexpr std::string_view kSinceHint =
    "write a duration like 10min or 24h, or a time like 14:30 or \"2026-11-25 14:30\"";

// Returns a text like "11-25 14:30:05".
std::string moment(std::uint64_t time_ms);

}  // namespace satrelay::ctl
