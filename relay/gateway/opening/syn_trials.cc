#include "relay/gateway/opening/syn_trials.h"

#include <algorithm>
#include <utility>

namespace satrelay::gateway {

const SynTrials::Trial* SynTrials::trial_of(const LanAddress& address) const {
  const auto found = std::ranges::find(trials_, address, &Trial::address);
  return found == trials_.end() ? nullptr : &*found;
}

SynTrials::Trial* SynTrials::trial_of(const LanAddress& address) {
  return const_cast<Trial*>(std::as_const(*this).trial_of(address));
}

bool SynTrials::is_overdue(const LanAddress& address, Instant now) const {
  const Trial* const trial = trial_of(address);
  if (trial == nullptr || trial->sign != Sign::kHint || now >= trial->until) return false;
  return std::ranges::any_of(trial->all(), [&](const Syn& syn) {
    return syn.is_late(now) && !syn.has_waited && !syn.answer;
  });
}

// If all places are taken, an address replaces a confirmed address. It never replaces an address
// with a hint: if the SYNs of such an address were forgotten, their connections could go on
// unencrypted.
SynTrials::Trial* SynTrials::room_for(const LanAddress& address, Sign sign, Instant now) {
  const Trial fresh{.address = address, .sign = sign, .syns = {}, .until = now, .ask_again = now};
  if (Trial* const known = trial_of(address)) {
    if (now >= known->until) *known = fresh;
    known->sign = sign;
    return known;
  }
  const auto is_over = [&](const Trial& trial) { return now >= trial.until; };
  const auto is_unconfirmed = [&](const Trial& trial) {
    return trial.sign != Sign::kConfirmed && !is_over(trial);
  };
  if (sign == Sign::kHint &&
      std::ranges::count_if(trials_, is_unconfirmed) >= std::ptrdiff_t{kMostUnconfirmed}) {
    return nullptr;
  }
  if (trials_.size() == kMostAddresses) {
    auto old = std::ranges::find_if(trials_, is_over);
    if (old == trials_.end()) old = std::ranges::find(trials_, Sign::kConfirmed, &Trial::sign);
    if (old == trials_.end()) return nullptr;
    trials_.erase(old);
  }
  trials_.push_back(fresh);
  return &trials_.back();
}

bool SynTrials::begin(const LanAddress& address, Sign sign, const Syn& syn) {
  Trial* const trial = room_for(address, sign, syn.sent);
  if (trial == nullptr) return false;
  if (const Found known = find(syn.key, syn.sequence, syn.sent); known.syn != nullptr) {
    known.syn->is_repeated = true;
    return true;
  }
  end(syn.key);
  if (trial->count == kMostSyns) {
    if (sign == Sign::kHint) return false;
    std::rotate(trial->syns.begin(), trial->syns.begin() + 1, trial->syns.end());
    --trial->count;
  }
  trial->syns.at(trial->count++) = syn;
  trial->until = syn.sent + kKept;
  return true;
}

SynTrials::Found SynTrials::find(const FlowKey& key, std::uint32_t sequence, Instant now) {
  Trial* const trial = trials_.empty() ? nullptr : trial_of({key.remote, key.vlans});
  if (trial == nullptr || now >= trial->until) return {};
  for (Syn& syn : trial->all()) {
    if (syn.key == key && syn.sequence == sequence) return {trial, &syn};
  }
  return {};
}

void SynTrials::end(const FlowKey& key) {
  Trial* const trial = trial_of({key.remote, key.vlans});
  if (trial == nullptr) return;
  const std::span<Syn> all = trial->all();
  const auto rest =
      std::remove_if(all.begin(), all.end(), [&](const Syn& syn) { return syn.key == key; });
  trial->count = static_cast<std::size_t>(rest - all.begin());
}

}  // namespace satrelay::gateway
