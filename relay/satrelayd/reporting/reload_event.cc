#include "relay/satrelayd/reporting/reload_event.h"

#include <algorithm>

namespace satrelay::satrelayd {
namespace {

constexpr std::size_t kMostLine = 1000;
// Maximum number of changes to log: the first worker forwards no frames while it logs them.
constexpr std::size_t kMostLines = 100;

std::string cut(const std::string& text, std::size_t most) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= most) return text;
  return text.substr(0, most - kMore.size()).append(kMore);
}

// Lists as many changes as fit into an event's text, and then the number of further changes.
template <typename TextOf>
std::string listed(const std::vector<config::ChangedKey>& changes, const TextOf& text_of) {
  constexpr std::size_t kRest = 16;  // room for " and 1000000 more"
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string next = (i == 0 ? "" : ", ") + text_of(changes[i]);
    const bool is_last = i + 1 == changes.size();
    if (text.size() + next.size() + (is_last ? 0 : kRest) > ops::kMostEventText) {
      if (i == 0) return cut(next, ops::kMostEventText);
      return text + " and " + std::to_string(changes.size() - i) + " more";
    }
    text += next;
  }
  return text;
}

constexpr std::string_view kReadFile =
    "let the gateway's user read the file, and no other user if it is a secret: chgrp, chmod 0640; "
    "reload again";
constexpr std::string_view kRestart =
    "restart the gateway, without loss by satrelayctl drain; or give these keys their former "
    "values";
// In the order of ReloadRefusal.
constexpr std::string_view kAdvice[] = {
    "",
    kReadFile,
    "put the file back, or correct its path in the configuration; reload again",
    kRestart,
    "free memory of the machine; reload again",
    "find what uses the core of the worker that the log names; reload again"};
static_assert(std::ranges::all_of(kAdvice,
                                  [](std::string_view advice) {
                                    return advice.size() <= ops::kMostEventText;
                                  }),
              "the stats socket would cut it");

}  // namespace

ReloadTold told_of(const std::vector<config::ChangedKey>& changes) {
  using config::ChangedKey;
  if (changes.empty())
    return {.detail = "nothing has changed", .before = {}, .after = {}, .lines = {}};
  ReloadTold told;
  told.detail = listed(changes, [](const ChangedKey& each) { return each.key; });
  if (changes.size() == 1) {
    told.before = cut(changes[0].before, ops::kMostEventText);
    told.after = cut(changes[0].after, ops::kMostEventText);
  } else {
    told.before = listed(changes, [](const ChangedKey& e) { return e.key + "=" + e.before; });
    told.after = listed(changes, [](const ChangedKey& e) { return e.key + "=" + e.after; });
  }
  std::size_t needed[] = {0, 0};
  for (const ChangedKey& each : changes) {
    needed[0] += each.key.size() + 1 + each.before.size() + 2;
    needed[1] += each.key.size() + 1 + each.after.size() + 2;
  }
  if (std::max(needed[0], needed[1]) <= ops::kMostEventText) return told;
  for (const ChangedKey& each : changes) {
    if (told.lines.size() == kMostLines) {
      told.lines.push_back("reload: and " + std::to_string(changes.size() - kMostLines) + " more");
      break;
    }
    told.lines.push_back(
        cut("reload: " + each.key + ": from " + each.before + " to " + each.after, kMostLine));
  }
  return told;
}

std::string_view advice_for(ReloadRefusal refusal) {
  return kAdvice[static_cast<std::size_t>(refusal)];
}

}  // namespace satrelay::satrelayd
