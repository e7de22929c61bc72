// The dictionaries with which peers may compress blocks for this gateway, each with the number that
// is sent to the peers (docs/stp.md section 15). The meaning of a number never changes, since
// blocks may be in flight or stored for a long time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/compress/dictionary.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

struct DictionaryOffer {
  std::uint8_t number = 0;        // the number by which the receiver knows the dictionary
  std::uint64_t fingerprint = 0;  // fingerprint of the dictionary's content
};

class Dictionaries {
 public:
  // Maximum number of dictionaries since the start, including those that are no longer offered.
  // Further dictionaries are not offered.
  static constexpr std::size_t kMost = 64;

  // Offers the dictionaries of `classes`. Blocks with a dictionary that was offered before can
  // still be decoded.
  void replace(const TrafficClasses& classes);

  const std::vector<DictionaryOffer>& offered() const { return offered_; }
  // Returns nullptr if no dictionary has this number.
  const compress::Dictionary* find(std::uint8_t number) const {
    return number < known_.size() ? known_[number].get() : nullptr;
  }

 private:
  std::vector<std::shared_ptr<const compress::Dictionary>> known_;  // indexed by number
  std::vector<DictionaryOffer> offered_;
};

}  // namespace satrelay::gateway
