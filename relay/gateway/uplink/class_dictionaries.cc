#include "relay/gateway/uplink/class_dictionaries.h"

#include <utility>

#include "pep/compress/effort.h"

namespace satrelay::gateway {
namespace {

ClassDictionaries::Levels make_ready(const std::vector<std::byte>& content, int compress_level) {
  auto dictionary = compress::Dictionary::make(content);
  if (dictionary == nullptr) return nullptr;
  const bool any = compress_level == config::kAutoLevel;
  return std::make_shared<const compress::DictionaryLevels>(
      std::move(dictionary), any ? compress::kLowestLevel : compress_level,
      any ? compress::kHighestLevel : compress_level);
}

}  // namespace

ClassDictionaries::ClassDictionaries(const std::vector<config::TrafficClass>& classes,
                                     int compress_level) {
  std::map<std::vector<std::byte>, Levels> made;
  for (const config::TrafficClass& each : classes) {
    if (each.dictionary.empty()) continue;
    const auto [at, is_new] = made.try_emplace(each.dictionary);
    if (is_new) at->second = make_ready(each.dictionary, compress_level);
    if (at->second != nullptr) by_class_.emplace(each.name, at->second);
  }
}

ClassDictionaries::Levels ClassDictionaries::of(std::string_view class_name) const {
  const auto found = by_class_.find(class_name);
  return found == by_class_.end() ? nullptr : found->second;
}

}  // namespace satrelay::gateway
