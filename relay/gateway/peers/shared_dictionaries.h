// The dictionaries with which blocks to one peer may be compressed. A class uses its configured
// dictionary only if the peer also has this dictionary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/compress/dictionary.h"
#include "pep/compress/dictionary_trial.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/peers/dictionaries.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

struct SharedDictionary {
  const compress::DictionaryLevels* levels = nullptr;  // nullptr if the class shares no dictionary
  std::uint64_t fingerprint = 0;
  std::uint8_t number = 0;  // the number by which the peer knows the dictionary
  compress::DictionaryTrials trials;
};

class SharedDictionaries {
 public:
  // `of_peer`: the dictionaries that the peer has. `classes` remains the owner of the dictionaries.
  void update(const TrafficClasses& classes, const std::vector<DictionaryOffer>& of_peer);

  SharedDictionary& of(schedule::ClassId id) { return shared_[id]; }
  const SharedDictionary& of(schedule::ClassId id) const { return shared_[id]; }
  std::size_t classes() const { return count_; }  // how many classes have a shared dictionary

 private:
  std::array<SharedDictionary, schedule::kClasses> shared_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::gateway
