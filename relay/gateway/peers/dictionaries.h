// The dictionaries that blocks for this gateway may be made with, each under the number that the
// peers are told (docs/stp.md section 15). What a number means never changes: blocks may wait long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/compress/dictionary.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

struct DictionaryOffer {
  std::uint8_t number = 0;        // as its receiver knows the dictionary
  std::uint64_t fingerprint = 0;  // of its content
};

class Dictionaries {
 public:
  // Configured since the start, all told. Peers are offered none beyond.
  static constexpr std::size_t kMost = 64;

  // Offered are those of `classes`; what was offered before can still be decoded.
  void replace(const TrafficClasses& classes);

  const std::vector<DictionaryOffer>& offered() const { return offered_; }
  // nullptr: there is none of this number.
  const compress::Dictionary* find(std::uint8_t number) const {
    return number < known_.size() ? known_[number].get() : nullptr;
  }

 private:
  std::vector<std::shared_ptr<const compress::Dictionary>> known_;  // by number
  std::vector<DictionaryOffer> offered_;
};

}  // namespace satrelay::gateway
