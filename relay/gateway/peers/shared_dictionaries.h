// The dictionaries for blocks to one peer: for each class its dictionary, if the peer has it too.
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
  const compress::DictionaryLevels* levels = nullptr;  // nullptr: none
  std::uint64_t fingerprint = 0;
  std::uint8_t number = 0;  // the peer's number for it
  compress::DictionaryTrials trials;
};

class SharedDictionaries {
 public:
  // `of_peer`: the dictionaries that the peer has. `classes` still owns the dictionaries.
  void update(const TrafficClasses& classes, const std::vector<DictionaryOffer>& of_peer);

  SharedDictionary& of(schedule::ClassId id) { return shared_[id]; }
  const SharedDictionary& of(schedule::ClassId id) const { return shared_[id]; }
  std::size_t classes() const { return count_; }  // how many have one

 private:
  std::array<SharedDictionary, schedule::kClasses> shared_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::gateway
