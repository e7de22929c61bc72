#include "relay/gateway/peers/shared_dictionaries.h"

#include <algorithm>

namespace satrelay::gateway {

void SharedDictionaries::update(const TrafficClasses& classes,
                                const std::vector<DictionaryOffer>& of_peer) {
  const auto before = shared_;
  shared_ = {};
  count_ = 0;
  for (const schedule::ClassId id : classes.order()) {
    const compress::DictionaryLevels* levels = classes[id].dictionary.get();
    if (levels == nullptr) continue;
    const auto offer = std::ranges::find(of_peer, levels->dictionary()->fingerprint(),
                                         &DictionaryOffer::fingerprint);
    if (offer == of_peer.end()) continue;
    // If a reload has only built new tables for the same dictionary, keep the results of the
    // dictionary's trials.
    const SharedDictionary& old = before[id];
    const bool is_same = old.levels != nullptr && old.fingerprint == offer->fingerprint;
    shared_[id] = {levels, offer->fingerprint, offer->number,
                   is_same ? old.trials : compress::DictionaryTrials()};
    ++count_;
  }
}

}  // namespace satrelay::gateway
