// Converts times of events to and from text for people, in this machine's time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace satrelay::ctl {

// Returns milliseconds since 1970, UTC. "10min" means 10 minutes ago. "14:30" or "14:30:05" means
// the latest such time of day that has passed. A date has the form "2026-11-25", "2026-11-25 14:30"
// or "2026-11-25T14:30:05". Returns nullopt for any other text.
std::optional<std::uint64_t> parse_since(std::string_view text, std::uint64_t now_ms);
inline constexpr std::string_view kSinceHint =
    "write a duration like 10min or 24h, or a time like 14:30 or \"2026-11-25 14:30\"";

// Returns a text like "11-25 14:30:05".
std::string moment(std::uint64_t time_ms);

}  // namespace satrelay::ctl
