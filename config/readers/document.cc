#include "config/readers/document.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

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

// Levenshtein distance, for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

std::string unknown_key(std::string_view key, std::span<const std::string> known) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 3) + 1;
  std::string all;
  for (const std::string_view candidate : known) {
    all += (all.empty() ? "" : ", ") + std::string(candidate);
    const bool prefix = key.starts_with(candidate) || candidate.starts_with(key);
    const std::size_t distance = prefix && !key.empty() ? 1 : edit_distance(key, candidate);
    if (key.size() <= 64 && distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  std::string message = "unknown key; ";
  if (!nearest.empty()) message += "did you mean " + std::string(nearest) + "? ";
  return message + "allowed here: " + all;
}

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

}  // namespace

std::string Places::point_at(const std::string& path, const std::string& message) const {
  std::string nearest = path;
  while (!nearest.empty() && !places_.contains(nearest)) {
    const std::size_t end = nearest.find_last_of(".[");
    nearest.resize(end == std::string::npos ? 0 : end);
  }
  std::string text = file_;
  if (const auto found = places_.find(nearest); found != places_.end() && found->second.line > 0) {
    text += ":" + std::to_string(found->second.line) + ":" + std::to_string(found->second.column);
  }
  text += ": ";
  if (!path.empty()) text += path + ": ";
  return text + message;
}

void Places::fail(const std::string& path, const std::string& message) const {
  throw ConfigError(point_at(path, message));
}

Value::Value(Places& places, const YAML::Node& node, std::string path)
    : places_(&places), node_(node), path_(std::move(path)) {
  places_->record(path_, place_of(node_.Mark()));
}

void Value::fail(const std::string& message) const { places_->fail(path_, message); }

void Value::fail(const FileError& error) const {
  throw FileError(places_->point_at(path_, error.what()), error.cause());
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
  for (auto& [name, value] : named_entries("write a map; allowed keys: " + keys)) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      // The message points at the key, because the key is wrong and not its value.
      for (const auto& entry : node_) {
        if (entry.first.Scalar() == name) {
          places_->record(value.path(), place_of(entry.first.Mark()));
        }
      }
      value.fail(unknown_key(name, known));
    }
    values.emplace(name, std::move(value));
  }
  return {*this, std::move(values)};
}

std::vector<std::pair<std::string, Value>> Value::named_entries(std::string_view hint) const {
  if (!node_.IsMap()) fail(std::string(shape_of(node_)) + "; " + std::string(hint));
  std::vector<std::pair<std::string, Value>> entries;
  std::map<std::string, int> lines;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar()) {
      places_->record(path_, place_of(entry.first.Mark()));
      fail("a key " + std::string(shape_of(entry.first)) + "; keys are names");
    }
    const std::string name = entry.first.Scalar();
    const Place place = place_of(entry.first.Mark());
    const std::string path = join(path_, printable(name));
    if (const auto [first, added] = lines.emplace(name, place.line); !added) {
      places_->record(path, place);
      places_->fail(path, "is given twice, first in line " + std::to_string(first->second) +
                              "; give it once");
    }
    entries.emplace_back(name, Value(*places_, entry.second, path));
    // For an empty value, yaml-cpp may give the place of the next token, so the value gets the
    // place of its key.
    if (entry.second.IsNull()) places_->record(path, place);
  }
  return entries;
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
  if (!value) refuse("is not an address", kHint);
  return *value;
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
  map_.fail_at(key, "is missing; " + std::string(hint));
}

Value parse_document(const std::string& text, Places& places, const std::string& file) {
  if (text.size() > kMostDocumentBytes) {
    throw ConfigError(file + ": is larger than " + to_text(ByteCount(kMostDocumentBytes)));
  }
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::Exception& e) {
    places.record("", place_of(e.mark));
    places.fail("", "is not YAML: " + e.msg);
  }
  if (documents.empty() || documents.front().IsNull()) {
    throw ConfigError(file + ": is empty; see the samples in config/samples");
  }
  if (documents.size() > 1) {
    places.record("", place_of(documents[1].Mark()));
    places.fail("", "a second document begins here; write one document a file");
  }
  return {places, documents.front(), ""};
}

}  // namespace satrelay::config
