#include "relay/gateway/addresses/far/far_families.h"

#include <algorithm>

#include "relay/gateway/addresses/network_of.h"
#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::uint32_t network_in(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint32_t second_in(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

std::uint32_t network_hash(const HashKey& key, const IpAddress& server) {
  const auto octets = network_of(server).octets();
  return static_cast<std::uint32_t>(sip_hash(key, std::as_bytes(std::span(octets))));
}

}  // namespace

bool FarFamilies::note_silence(FarGatewayId peer, const IpAddress& server, Instant now) {
  Family& family = family_of(peer, server);
  const std::uint32_t network = network_hash(key_, server);
  std::array<std::uint64_t, kServers> words;
  std::ranges::transform(family.unanswered, words.begin(),
                         [](const auto& word) { return word.load(kRelaxed); });
  auto place = std::ranges::find_if(words, [network](std::uint64_t word) {
    return second_in(word) != 0 && network_in(word) == network;
  });
  if (place == words.end()) place = std::ranges::min_element(words, {}, second_in);
  *place = (std::uint64_t{network} << 32) | second_of(now);
  family.unanswered[static_cast<std::size_t>(place - words.begin())].store(*place, kRelaxed);

  const bool was_silent = is_silent(peer, server, now);
  const bool is_now = !is_within(family.answered.load(kRelaxed), kWithin, now) &&
                      std::ranges::all_of(words, [now](std::uint64_t word) {
                        return is_within(second_in(word), kWithin, now);
                      });
  if (was_silent || is_now) family.silent_since.store(second_of(now), kRelaxed);
  return is_now && !was_silent;
}

void FarFamilies::note_answer(FarGatewayId peer, const IpAddress& server, Instant now) {
  Family& family = family_of(peer, server);
  // Write only if the value changes, since other workers read this word with each SYN.
  if (family.answered.load(kRelaxed) != second_of(now)) {
    family.answered.store(second_of(now), kRelaxed);
  }
  if (family.silent_since.load(kRelaxed) != 0) family.silent_since.store(0, kRelaxed);
}

bool FarFamilies::is_silent(FarGatewayId peer, const IpAddress& server, Instant now) const {
  return is_within(family_of(peer, server).silent_since.load(kRelaxed), kKept, now);
}

}  // namespace satrelay::gateway
