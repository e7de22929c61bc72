#include "relay/gateway/peers/dictionaries.h"

#include <algorithm>

namespace satrelay::gateway {

void Dictionaries::replace(const TrafficClasses& classes) {
  offered_.clear();
  for (const schedule::ClassId id : classes.order()) {
    if (classes[id].dictionary == nullptr) continue;
    const auto& dictionary = classes[id].dictionary->dictionary();
    const std::uint64_t fingerprint = dictionary->fingerprint();
    const auto is_it = [&](const auto& known) { return known->fingerprint() == fingerprint; };
    auto found = std::ranges::find_if(known_, is_it);
    if (found == known_.end()) {
      if (known_.size() == kMost) continue;
      found = known_.insert(known_.end(), dictionary);
    }
    // Several classes may share a dictionary.
    if (std::ranges::find(offered_, fingerprint, &DictionaryOffer::fingerprint) != offered_.end()) {
      continue;
    }
    offered_.push_back({static_cast<std::uint8_t>(found - known_.begin()), fingerprint});
  }
}

}  // namespace satrelay::gateway
