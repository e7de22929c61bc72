#include "relay/sim/adversaries/tricks.h"

#include <cstddef>
#include <iterator>

namespace satrelay::sim {
namespace {

constexpr const char* kPeerTricks[] = {"opens",    "data",    "early ends", "credit",   "starts",
                                       "reports",  "resets",  "confirms",   "rates",    "pings",
                                       "messages", "lists",   "epochs",     "close",    "unknown",
                                       "codes",    "garbage", "silence",    "greetings"};
static_assert(std::size(kPeerTricks) == static_cast<std::size_t>(PeerTrick::kEnd));

constexpr const char* kLanTricks[] = {"resets",   "data",       "SYNs",  "moved hosts", "ICMP",
                                      "ARP",      "neighbours", "STP",   "fragments",   "options",
                                      "disorder", "overlaps",   "SACKs", "floods",      "garbage"};
static_assert(std::size(kLanTricks) == static_cast<std::size_t>(LanTrick::kEnd));

template <std::size_t Count>
std::string names_of(const char* const (&names)[Count], std::uint32_t tricks) {
  std::string text;
  for (std::size_t i = 0; i < Count; ++i) {
    if ((tricks >> i & 1U) == 0) continue;
    if (!text.empty()) text += ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

std::string names_of_peer_tricks(std::uint32_t tricks) { return names_of(kPeerTricks, tricks); }
std::string names_of_lan_tricks(std::uint32_t tricks) { return names_of(kLanTricks, tricks); }

}  // namespace satrelay::sim
