// A YAML document as this project reads it. Every value knows its path ("links.sat.send_rate") and
// its place. Every mistake leads to one ConfigError that names both. Unknown keys are refused, so
// nothing in the file stays unread by accident.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/words.h"
#include "config/text/error.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

struct Place {
  int line = 0;  // counts from 1; 0 if unknown
  int column = 0;
};

// The place of each path in the file, for messages about contradictions that are found later.
class Places {
 public:
  explicit Places(std::string file) : file_(std::move(file)) {}
  void record(const std::string& path, Place place) { places_[path] = place; }
  bool has(const std::string& path) const { return places_.contains(path); }
  // Returns "file:line:column: path: message". If the path is not in the file, the place belongs to
  // its nearest parent in the file.
  std::string point_at(const std::string& path, const std::string& message) const;
  // Throws ConfigError with the text of point_at().
  [[noreturn]] void fail(const std::string& path, const std::string& message) const;

 private:
  std::string file_;
  std::map<std::string, Place> places_;
};

template <typename T>
struct Bounds {
  T least;
  T most;
};

class Fields;

class Value {
 public:
  Value(Places& places, const YAML::Node& node, std::string path);

  const std::string& path() const { return path_; }
  // Throws ConfigError about this value.
  [[noreturn]] void fail(const std::string& message) const;
  // Throws `error`, an error of the file that the value names, with the place of the value.
  [[noreturn]] void fail(const FileError& error) const;
  // Throws ConfigError about the field `key` of this map. The map may lack the field.
  [[noreturn]] void fail_at(const std::string& key, const std::string& message) const;
  // Like fail(), but the message begins with the text of the value: "50Mb" is not a rate; ...
  [[noreturn]] void refuse(std::string_view what, std::string_view hint) const;

  // --- shapes ---------------------------------------------------------------------------------
  // Returns the fields of a map. Refuses keys that are not `known`.
  Fields fields(std::span<const std::string> known) const;
  Fields fields(std::initializer_list<std::string_view> known) const;
  // The entries of a map by key, in the order of the file.
  std::vector<std::pair<std::string, Value>> named_entries(std::string_view hint) const;
  std::vector<Value> items(std::string_view hint) const;
  std::vector<Value> items_or_single() const;  // a scalar counts as a list of one
  bool is_map() const { return node_.IsMap(); }

  // --- scalars --------------------------------------------------------------------------------
  std::string text(std::string_view hint) const;
  std::uint64_t integer(Bounds<std::uint64_t> bounds) const;
  BitRate rate(Bounds<BitRate> bounds) const;
  Duration duration(Bounds<Duration> bounds) const;
  ByteCount size(Bounds<ByteCount> bounds) const;
  double share() const;
  IpAddress address() const;
  IpPrefix prefix() const;
  // Reads one of the words in the table of `Enum` in config/model/words.h.
  template <typename Enum>
  Enum word() const {
    const auto value = from_word<Enum>(text("write one word"));
    if (!value) refuse("is not known here", "allowed: " + known_words<Enum>());
    return *value;
  }
  template <typename Enum>
  Enum word(std::initializer_list<std::pair<std::string_view, Enum>> words) const {
    std::string known;
    const std::string given = text("write one word");
    for (const auto& [name, value] : words) {
      if (name == given) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    refuse("is not known here", "allowed: " + known);
  }

 private:
  Places* places_;
  YAML::Node node_;
  std::string path_;
};

// The fields of a map that has no unknown or duplicate keys.
class Fields {
 public:
  Fields(Value map, std::map<std::string, Value> values)
      : map_(std::move(map)), values_(std::move(values)) {}
  const Value* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Throws ConfigError "... is missing; <hint>" at the map if the map lacks the key.
  const Value& require(const std::string& key, std::string_view hint) const;

 private:
  Value map_;
  std::map<std::string, Value> values_;
};

inline constexpr std::size_t kMostDocumentBytes = std::size_t{8} << 20;

// Returns the only document in `text`. Throws ConfigError if the text is not YAML, is empty, has
// more than one document or is longer than kMostDocumentBytes.
Value parse_document(const std::string& text, Places& places, const std::string& file);

}  // namespace satrelay::config
