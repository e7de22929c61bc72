#include "config/readers/document.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <utility>

#include "config/mistakes/yaml_mistake.h"
#include "config/model/names.h"
#include "config/text/error.h"
#include "config/text/format.h"
#include "config/text/interface_address.h"
#include "config/text/units.h"

namespace satrelay::config {
namespace {

Place place_of(const YAML::Mark& mark) {
  return mark.is_null() ? Place{} : Place{mark.line + 1, mark.column + 1};
}

const char* shape_of(const YAML::Node& node) {
  if (node.IsMap()) return "is a map";
  if (node.IsSequence()) return "is a list";
  if (node.IsScalar()) return "is a single value";
  return "is empty";
}

// The number of letters to add, remove, replace or exchange with the next one, for "did you mean".
// Damerau (1964), without changes of letters that were exchanged.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

// How an operator may have meant the key: "Send-Rate" is send_rate.
std::string plain(std::string_view key) {
  std::string text(key);
  for (char& c : text) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// Returns the known key that resembles `key` most, or "". A key that the map lacks is more likely
// meant than one that it has.
std::string_view nearest_key(std::string_view key, std::span<const std::string> known,
                             const std::map<std::string, Value>& present) {
  constexpr std::size_t kLongest = 64;
  if (key.empty() || key.size() > kLongest) return "";
  const std::string given = plain(key);
  const std::size_t most = key.size() <= 3 ? 1 : std::max<std::size_t>(2, key.size() / 3);
  std::string_view nearest;
  std::pair<bool, std::size_t> least(true, most + 1);
  for (const std::string& candidate : known) {
    const bool prefix = given.starts_with(candidate) || candidate.starts_with(given);
    const std::size_t distance = prefix ? std::min<std::size_t>(1, edit_distance(given, candidate))
                                        : edit_distance(given, candidate);
    const std::pair<bool, std::size_t> rank(present.contains(candidate), distance);
    if (distance > most || rank >= least) continue;
    least = rank;
    nearest = candidate;
  }
  return nearest;
}

std::string unknown_key(std::string_view what, std::string_view nearest,
                        std::span<const std::string> known) {
  std::string all;
  for (const std::string& candidate : known) all += (all.empty() ? "" : ", ") + candidate;
  std::string message(what);
  if (!nearest.empty()) message += "did you mean " + std::string(nearest) + "? ";
  return message + "allowed here: " + all;
}

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

struct SecondDocument {
  Place place;
  bool is_stuck = false;  // it has the place of the first document
};

// Throws SecondDocument at the first value of a second document, and keeps no values.
class DocumentCheck : public YAML::EventHandler {
 public:
  bool has_document() const { return documents_ > 0; }

  void OnDocumentStart(const YAML::Mark&) override {
    ++documents_;
    is_root_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { check(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { check(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    check(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check(mark);
  }
  void OnMapEnd() override {}

 private:
  void check(const YAML::Mark& mark) {
    if (documents_ > 1) throw SecondDocument{place_of(mark), mark.pos == first_root_};
    if (std::exchange(is_root_, false)) first_root_ = mark.pos;
  }

  std::size_t documents_ = 0;
  bool is_root_ = false;
  int first_root_ = 0;  // the position of the root of the first document
};

// Returns whether the text has a document. Throws SecondDocument if it has more than one. A comma
// before the first key makes YAML::LoadAll read empty documents without end, because the parser
// does not pass the comma. So this function reads no document after the first one.
bool has_one_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentCheck check;
  while (parser.HandleNextDocument(check)) {
  }
  return check.has_document();
}

}  // namespace

struct Value::Entry {
  std::string name;
  Place key;
  Value value;
};

Value::Value(Places& places, const YAML::Node& node, std::string path)
    : places_(&places), node_(node), path_(std::move(path)) {
  places_->record(path_, place_of(node_.Mark()));
}

void Value::fail(const std::string& message) const { places_->fail(path_, message); }

void Value::fail(const FileError& error) const { places_->fail(path_, error); }

void Value::tell(const std::string& message) const {
  attempt([&] { fail(message); });
}

void Value::fail_at(const std::string& key, const std::string& message) const {
  places_->fail(join(path_, key), message);
}

void Value::refuse(std::string_view what, std::string_view hint) const {
  fail(in_quotes(node_.Scalar()) + " " + std::string(what) + "; " + std::string(hint));
}

Fields Value::fields(std::initializer_list<std::string_view> known) const {
  return fields(std::vector<std::string>(known.begin(), known.end()));
}

Fields Value::fields(std::span<const std::string> known) const {
  std::string keys;
  for (const std::string& key : known) keys += (keys.empty() ? "" : ", ") + key;
  std::map<std::string, Value> values;
  std::vector<Entry> others;
  for (Entry& entry : entries("write a map; allowed keys: " + keys)) {
    if (std::find(known.begin(), known.end(), entry.name) == known.end()) {
      others.push_back(std::move(entry));
    } else {
      values.emplace(entry.name, std::move(entry.value));
    }
  }
  Fields::Unknown unknown{.any = !others.empty(), .meant = {}};
  for (const Entry& entry : others) {
    const std::string_view nearest = nearest_key(entry.name, known, values);
    if (!nearest.empty() && !values.contains(std::string(nearest))) unknown.meant.emplace(nearest);
    // A key that is no name may be a secret in the wrong place, so the message does not have it.
    if (!is_key_name(entry.name)) {
      tell_at(entry.key, path_, unknown_key("has a key that is no name; ", nearest, known));
      continue;
    }
    // The message points at the key, because the key is wrong and not its value.
    places_->record(entry.value.path(), entry.key);
    entry.value.tell(unknown_key("unknown key; ", nearest, known));
  }
  return {*this, std::move(values), std::move(unknown)};
}

std::vector<Value::Entry> Value::entries(std::string_view hint) const {
  if (!node_.IsMap()) fail(std::string(shape_of(node_)) + "; " + std::string(hint));
  std::vector<Entry> entries;
  std::map<std::string, int> lines;
  for (const auto& entry : node_) {
    const Place place = place_of(entry.first.Mark());
    if (!entry.first.IsScalar()) {
      tell_at(place, path_, "a key " + std::string(shape_of(entry.first)) + "; keys are names");
      continue;
    }
    const std::string name = entry.first.Scalar();
    const std::string path = join(path_, printable(name));
    if (const auto [first, added] = lines.emplace(name, place.line); !added) {
      tell_at(place, path,
              "is given twice, first in line " + std::to_string(first->second) + "; give it once");
      continue;
    }
    entries.push_back({name, place, Value(*places_, entry.second, path)});
    // For an empty value, yaml-cpp may give the place of the next token, so the value gets the
    // place of its key.
    if (entry.second.IsNull()) places_->record(path, place);
  }
  return entries;
}

void Value::tell_at(Place place, const std::string& path, const std::string& message) const {
  places_->attempt(path, [&] { places_->fail_at(place, path, message); });
}

std::vector<std::pair<std::string, Value>> Value::named_entries(std::string_view hint) const {
  std::vector<std::pair<std::string, Value>> named;
  for (Entry& entry : entries(hint)) named.emplace_back(entry.name, std::move(entry.value));
  return named;
}

std::vector<Value> Value::items(std::string_view hint) const {
  if (!node_.IsSequence()) fail(std::string(shape_of(node_)) + "; " + std::string(hint));
  std::vector<Value> values;
  for (std::size_t i = 0; i < node_.size(); ++i) {
    values.emplace_back(*places_, node_[i], path_ + "[" + std::to_string(i) + "]");
  }
  return values;
}

std::vector<Value> Value::items_or_single() const {
  if (node_.IsScalar()) return {*this};
  return items("write one value or a list");
}

std::string Value::text(std::string_view hint) const {
  if (!node_.IsScalar() || node_.Scalar().empty()) {
    fail((node_.IsScalar() ? std::string("is empty") : std::string(shape_of(node_))) + "; " +
         std::string(hint));
  }
  return node_.Scalar();
}

std::uint64_t Value::integer(Bounds<std::uint64_t> bounds) const {
  const std::string hint = "write a whole number from " + std::to_string(bounds.least) + " to " +
                           std::to_string(bounds.most);
  const std::string digits = text(hint);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) refuse("is out of range", hint);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    refuse("is not a whole number", hint);
  }
  if (value < bounds.least || value > bounds.most) refuse("is out of range", hint);
  return value;
}

BitRate Value::rate(Bounds<BitRate> bounds) const {
  const auto value = parse_rate(text(kRateHint));
  if (!value) refuse("is not a rate", kRateHint);
  if (*value < bounds.least || *value > bounds.most) {
    refuse("is out of range", "allowed: " + to_text(bounds.least) + " to " + to_text(bounds.most));
  }
  return *value;
}

Duration Value::duration(Bounds<Duration> bounds) const {
  const auto value = parse_duration(text(kDurationHint));
  if (!value) refuse("is not a time", kDurationHint);
  if (*value < bounds.least || *value > bounds.most) {
    refuse("is out of range", "allowed: " + to_text(bounds.least) + " to " + to_text(bounds.most));
  }
  return *value;
}

ByteCount Value::size(Bounds<ByteCount> bounds) const {
  const auto value = parse_size(text(kSizeHint));
  if (!value) refuse("is not a size", kSizeHint);
  if (*value < bounds.least || *value > bounds.most) {
    refuse("is out of range", "allowed: " + to_text(bounds.least) + " to " + to_text(bounds.most));
  }
  return *value;
}

double Value::share() const {
  const auto value = parse_share(text(kShareHint));
  if (!value) refuse("is not a share", kShareHint);
  if (*value > 1) refuse("is out of range", kShareHint);
  return *value;
}

IpAddress Value::address() const {
  constexpr std::string_view kHint = "write an IPv4 or IPv6 address, like 192.0.2.1";
  const auto value = IpAddress::parse(text(kHint));
  if (value) return *value;
  if (const auto interface = parse_interface_address(node_.Scalar())) {
    refuse("is an address with a length", "write " + interface->own.to_string());
  }
  refuse("is not an address", kHint);
}

IpPrefix Value::prefix() const {
  constexpr std::string_view kHint = "write an address and a length, like 198.51.100.0/24";
  const auto value = IpPrefix::parse(text(kHint));
  if (value) return *value;
  if (const auto interface = parse_interface_address(node_.Scalar())) {
    refuse("has bits set beyond its length", "write " + interface->subnet.to_string());
  }
  refuse("is not a prefix", kHint);
}

const Value& Fields::require(const std::string& key, std::string_view hint) const {
  if (const Value* value = find(key)) return *value;
  // The unknown key that resembles this one was told already.
  if (unknown_.meant.contains(key)) throw ConfigError(std::vector<Mistake>());
  map_.fail_at(key, "is missing; " + std::string(hint));
}

bool Fields::are_sound(std::initializer_list<std::string_view> keys) const {
  return std::ranges::none_of(keys, [this](std::string_view key) {
    const std::string name(key);
    return unknown_.meant.contains(name) || map_.places_->is_wrong(path_of(name));
  });
}

std::string Fields::path_of(const std::string& key) const { return join(map_.path(), key); }

Value parse_document(const std::string& text, Places& places, const std::string& file) {
  if (text.size() > kMostDocumentBytes) {
    throw ConfigError(file + ": is larger than " + to_text(ByteCount(kMostDocumentBytes)));
  }
  const auto fail = [&](const YamlMistake& mistake) {
    places.record("", mistake.place);
    places.fail("", mistake.message);
  };
  if (const auto zero = find_octet_of_zero(text)) fail(*zero);
  YAML::Node document;
  try {
    if (has_one_document(text)) document = YAML::Load(text);
  } catch (const SecondDocument& second) {
    fail(explain_second_document(text, second.place, second.is_stuck));
  } catch (const YAML::Exception& e) {
    fail(explain_yaml(text, place_of(e.mark), e.msg));
  }
  if (document.IsNull()) {
    throw ConfigError(file + ": is empty; see the samples in config/samples");
  }
  return {places, document, ""};
}

}  // namespace satrelay::config
