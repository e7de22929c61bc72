#include "relay/gateway/uplink/class_dictionaries.h"

#include <cstdint>
#include <utility>

#include "pep/compress/effort.h"

namespace satrelay::gateway {
ClassDictionaries::ClassDictionaries(const std::vector<config::TrafficClass>& classes,
                                     int compress_level) {
  const bool any = compress_level == config::kAutoLevel;
  const int lowest = any ? compress::kLowestLevel : compress_level;
  const int highest = any ? compress::kHighestLevel : compress_level;
  std::map<std::uint64_t, Levels> made;  // by fingerprint
  for (const config::TrafficClass& each : classes) {
    auto dictionary = compress::Dictionary::make(each.dictionary);
    if (dictionary == nullptr) continue;
    Levels& levels = made[dictionary->fingerprint()];
    if (levels == nullptr) {
      levels = std::make_shared<const compress::DictionaryLevels>(std::move(dictionary), lowest,
                                                                  highest);
    }
    by_class_.emplace(each.name, levels);
  }
}

ClassDictionaries::Levels ClassDictionaries::of(std::string_view class_name) const {
  const auto found = by_class_.find(class_name);
  return found == by_class_.end() ? nullptr : found->second;
}

}  // namespace satrelay::gateway
