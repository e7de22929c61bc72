// The dictionaries of the classes, prepared for compression at the configured levels. Preparation
// takes milliseconds for each level, so it can be done in a thread that does not forward frames.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/compress/dictionary.h"

namespace satrelay::gateway {

class ClassDictionaries {
 public:
  using Levels = std::shared_ptr<const compress::DictionaryLevels>;

  ClassDictionaries() = default;  // no class has a dictionary
  // Classes with the same dictionary content share one dictionary. If the content is not a valid
  // dictionary, the class has none. `compress_level`: config::kAutoLevel means all levels.
  ClassDictionaries(const std::vector<config::TrafficClass>& classes, int compress_level);

  // Returns nullptr if the class has no dictionary.
  Levels of(std::string_view class_name) const;

 private:
  std::map<std::string, Levels, std::less<>> by_class_;
};

}  // namespace satrelay::gateway
