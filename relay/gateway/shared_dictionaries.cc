#include "relay/gateway/shared_dictionaries.h"

#include <algorithm>

namespace satrelay::gateway {

void SharedDictionaries::update(const TrafficClasses& classes,
                                const std::vector<DictionaryOffer>& of_peer) {
  const auto before = shared_;
  shared_ = {};
  count_ = 0;
  for (const stp::ClassId id : classes.order()) {
    const compress::DictionaryLevels* levels = classes[id].configured.dictionary.get();
    if (levels == nullptr) continue;
    const auto offer = std::ranges::find(of_peer, levels->dictionary()->fingerprint(),
                                         &DictionaryOffer::fingerprint);
    if (offer == of_peer.end()) continue;
    const bool same = before[id].levels == levels && before[id].number == offer->number;
    shared_[id] = {levels, offer->number, same ? before[id].trials : compress::DictionaryTrials()};
    ++count_;
  }
}

}  // namespace satrelay::gateway
