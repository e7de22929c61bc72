// The dictionaries of the classes, made ready to compress with at the levels that are configured.
// That takes milliseconds a level, so that another thread than the data path's may do it.
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

  ClassDictionaries() = default;  // no class has one
  // Classes with the same content share one. Content that is no dictionary (the loader refuses
  // such a file) counts as none. `compress_level`: config::kAutoLevel for all levels.
  ClassDictionaries(const std::vector<config::TrafficClass>& classes, int compress_level);

  // nullptr: the class has none.
  Levels of(std::string_view class_name) const;

 private:
  std::map<std::string, Levels, std::less<>> by_class_;
};

}  // namespace satrelay::gateway
