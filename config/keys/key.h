// Describes each key of a configuration file in one row: how the key is read and written, its
// allowed values, and the effect of a reload. Readers, lists of allowed keys, the comparison of two
// configurations and the check of docs/configuration.md all use the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/readers/document.h"
#include "pep/base/check.h"

namespace satrelay::config {

// Whether a reload applies a new value to the running gateway, or the gateway must be restarted.
enum class Reload : std::uint8_t { kLive, kRestart };
constexpr const char* to_string(Reload reload) {
  return reload == Reload::kLive ? "live" : "restart";
}

// The first release. Most keys exist since it.
inline constexpr const char* kFirstVersion = "0.9";

// The texts of a row.
struct KeyText {
  std::string name;
  Reload reload = Reload::kRestart;
  std::string help;  // one sentence
  // The default in words, such as "the address". If empty, the default is shown as a value.
  std::string fallback = {};
  // The allowed values as text. If empty, the text of the kind is used. A key that contains other
  // keys has no such text.
  std::string allowed = {};
  // Hint for the message that the key is missing. Empty if the key is optional.
  std::string required = {};
  std::string since = kFirstVersion;
};

// A kind of value: how it is read and written, and which values are allowed.
template <typename T>
struct Kind {
  std::function<T(const Value&)> read;
  std::function<std::string(const T&)> show;
  std::string allowed;  // allowed values, shown after the default: "1 to 65535"
  std::string unit;     // "rate", "time", "size", "share", "bytes a packet" or ""
};

template <typename Section>
struct Key {
  KeyText text;
  std::string unit;
  // Empty if the value depends on other keys. Then the reader of the section reads the key.
  std::function<void(const Value&, Section&)> read;
  // The value as text. Two values are equal if their texts are equal.
  std::function<std::string(const Section&)> show;
};

// `member` is a pointer to the member, or a function that takes the section and returns the member.
template <typename Section, typename T, typename Member>
Key<Section> key(KeyText text, Member member, Kind<T> kind) {
  if (text.allowed.empty()) text.allowed = kind.allowed;
  return {
      .text = std::move(text),
      .unit = kind.unit,
      .read = [member, read = kind.read](
                  const Value& value,
                  Section& section) { std::invoke(member, section) = read(value); },
      .show = [member, show = kind.show](
                  const Section& section) { return show(std::invoke(member, section)); },
  };
}

// Makes a key without a function `read`, because the reader of the section reads the value itself.
// `show` returns the value as text, as in Key.
template <typename Section, typename Show>
Key<Section> key_of_section(const KeyText& text, Show show, const std::string& unit = "") {
  return {.text = text, .unit = unit, .read = {}, .show = std::move(show)};
}

// The keys of one map, in the order in which they are read.
template <typename Section>
class Keys {
 public:
  explicit Keys(std::vector<Key<Section>> rows) : rows_(std::move(rows)) {
    for (const Key<Section>& row : rows_) names_.push_back(row.text.name);
  }

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  const std::vector<std::string>& names() const { return names_; }

  // Returns the fields of `map`. Tells of keys that have no row.
  Fields fields(const Value& map) const { return map.fields(names_); }
  // Reads each key that the map has, if the row of the key has a reader. A mistake in one of them
  // does not end the reading of the others, if all mistakes are to be told.
  void read(const Fields& fields, Section& section) const {
    for (const Key<Section>& row : rows_) {
      if (!row.read) continue;
      fields.read(row.text.name, [&](const Value& value) { row.read(value, section); });
    }
  }
  // Reads a key that must be there. If it is missing, the hint of its row is told.
  template <typename Read>
  void read_required(const Fields& fields, const std::string& name, Read&& read) const {
    fields.read_required(name, row_of(name).text.required, std::forward<Read>(read));
  }
  void must_have(const Fields& fields, const std::string& name) const {
    fields.must_have(name, row_of(name).text.required);
  }

 private:
  const Key<Section>& row_of(const std::string& name) const {
    const auto row =
        std::ranges::find_if(rows_, [&](const auto& r) { return r.text.name == name; });
    SATRELAY_CHECK(row != rows_.end());
    return *row;
  }

  std::vector<Key<Section>> rows_;
  std::vector<std::string> names_;
};

}  // namespace satrelay::config
