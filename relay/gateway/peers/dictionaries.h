// The dictionaries with which peers may compress blocks for this gateway, each under the number
// that is sent to the peers (docs/stp.md section 15). The meaning of a number never changes, as
// blocks may be in flight or stored for long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/compress/dictionary.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

struct DictionaryOffer {
  std::uint8_t number = 0;        // by which its receiver knows the dictionary
  std::uint64_t fingerprint = 0;  // of its content
};

class Dictionaries {
 public:
  // The most dictionaries since the start, including former ones. Peers are not offered more.
  static constexpr std::size_t kMost = 64;

  // Offers the dictionaries of `classes`. Blocks with a dictionary that was offered before can
  // still be decoded.
  void replace(const TrafficClasses& classes);

  const std::vector<DictionaryOffer>& offered() const { return offered_; }
  // nullptr: no dictionary has this number.
  const compress::Dictionary* find(std::uint8_t number) const {
    return number < known_.size() ? known_[number].get() : nullptr;
  }

 private:
  std::vector<std::shared_ptr<const compress::Dictionary>> known_;  // by number
  std::vector<DictionaryOffer> offered_;
};

}  // namespace satrelay::gateway
