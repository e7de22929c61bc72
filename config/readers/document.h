// A YAML document as this project reads it. Every value knows its path ("links.sat.send_rate") and
// its place. Every mistake leads to one ConfigError that names both. Unknown keys are refused, so
// nothing in the file stays unread by accident.
//
// If Places tells all mistakes, a mistake in one value does not end the reading of the others:
// attempt(), and the functions of Fields and Keys that use it, keep the mistake and go on. A reader
// compares two values only if both are sound, or else a mistake in one would be told twice.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/mistakes/places.h"
#include "config/model/words.h"
#include "config/text/error.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

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
  // Like fail(), but if all mistakes are to be told, the reading goes on.
  void tell(const std::string& message) const;
  // Runs `read`, which reads this value. If all mistakes are to be told, keeps the ConfigError that
  // `read` throws.
  template <typename Read>
  void attempt(Read&& read) const {
    places_->attempt(path_, std::forward<Read>(read));
  }
  // Whether a mistake in this value was kept.
  bool is_wrong() const { return places_->is_wrong(path_); }
  // Throws ConfigError about the field `key` of this map. The map may lack the field.
  [[noreturn]] void fail_at(const std::string& key, const std::string& message) const;
  // Like fail(), but the message begins with the text of the value: "50Mb" is not a rate; ...
  [[noreturn]] void refuse(std::string_view what, std::string_view hint) const;

  // --- shapes ---------------------------------------------------------------------------------
  // Returns the fields of a map. Tells of keys that are not `known`, and of keys given twice.
  Fields fields(std::span<const std::string> known) const;
  Fields fields(std::initializer_list<std::string_view> known) const;
  // The entries of a map by key, in the order of the file. Tells of keys given twice, and leaves
  // out the later ones.
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
  friend class Fields;
  struct Entry;
  std::vector<Entry> entries(std::string_view hint) const;
  void tell_at(Place place, const std::string& path, const std::string& message) const;

  Places* places_;
  YAML::Node node_;
  std::string path_;
};

// The fields of a map that its reader knows.
class Fields {
 public:
  // The keys of a map that its reader does not know.
  struct Unknown {
    bool any = false;
    std::set<std::string> meant;  // the missing keys that they resemble
  };
  Fields(Value map, std::map<std::string, Value> values, Unknown unknown)
      : map_(std::move(map)), values_(std::move(values)), unknown_(std::move(unknown)) {}
  const Value* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Throws ConfigError "... is missing; <hint>" at the map if the map lacks the key.
  const Value& require(const std::string& key, std::string_view hint) const;
  // Calls `read` with the value if the map has the key, as Value::attempt() does.
  template <typename Read>
  void read(const std::string& key, Read&& read) const {
    if (const Value* value = find(key)) value->attempt([&] { read(*value); });
  }
  // Like read(), but also tells that the key is missing.
  template <typename Read>
  void read_required(const std::string& key, std::string_view hint, Read&& read) const {
    map_.places_->attempt(path_of(key), [&] { read(require(key, hint)); });
  }
  // Tells that the key is missing if the map lacks it.
  void must_have(const std::string& key, std::string_view hint) const {
    read_required(key, hint, [](const Value&) {});
  }
  // Whether the reader knows what the file says about these keys: none has a mistake, and no
  // unknown key resembles one that is missing.
  bool are_sound(std::initializer_list<std::string_view> keys) const;
  bool has_unknown() const { return unknown_.any; }

 private:
  std::string path_of(const std::string& key) const;

  Value map_;
  std::map<std::string, Value> values_;
  Unknown unknown_;
};

inline constexpr std::size_t kMostDocumentBytes = std::size_t{8} << 20;

// Returns the only document in `text`. Throws ConfigError if the text is not YAML, is empty, has
// more than one document or is longer than kMostDocumentBytes.
Value parse_document(const std::string& text, Places& places, const std::string& file);

}  // namespace satrelay::config
