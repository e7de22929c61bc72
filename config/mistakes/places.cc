#include "config/mistakes/places.h"

#include <algorithm>
#include <iterator>

namespace satrelay::config {
namespace {

// The path of the map or the list that has this value.
std::string parent_of(const std::string& path) {
  const std::size_t end = path.find_last_of(".[");
  return path.substr(0, end == std::string::npos ? 0 : end);
}

}  // namespace

void Places::record(const std::string& path, Place place) {
  places_[path] = place;
  if (places_.size() <= kMostValues) return;
  const Mistake mistake =
      mistake_at(path, "is one value too many; write at most " + std::to_string(kMostValues) +
                           ", where an alias (*) counts as all values that it stands for");
  if (telling_ == Telling::kFirst) throw ConfigError(mistake);
  keep(path, ConfigError(mistake));
  throw ReadingEnded();
}

Place Places::place_of(const std::string& path) const {
  std::string nearest = path;
  while (!nearest.empty() && !places_.contains(nearest)) nearest = parent_of(nearest);
  const auto found = places_.find(nearest);
  return found == places_.end() ? Place() : found->second;
}

std::string Places::point_at(const std::string& path, const std::string& message) const {
  return text_of(place_of(path), path, message);
}

std::string Places::text_of(Place place, const std::string& path,
                            const std::string& message) const {
  std::string text = file_;
  if (place.line > 0) {
    text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  }
  text += ": ";
  if (!path.empty()) text += path + ": ";
  return text + message;
}

Mistake Places::mistake_at(const std::string& path, const std::string& message) const {
  // A value that is missing has no place of its own, so its key belongs to the name.
  const bool is_there = places_.contains(path);
  return {.text = point_at(path, message),
          .place = place_of(path),
          .name = (is_there ? "" : path.substr(parent_of(path).size())) + ": " + message};
}

void Places::fail(const std::string& path, const std::string& message) const {
  throw ConfigError(mistake_at(path, message));
}

void Places::fail_at(Place place, const std::string& path, const std::string& message) const {
  throw ConfigError(
      Mistake{.text = text_of(place, path, message), .place = place, .name = ": " + message});
}

void Places::fail(const std::string& path, const FileError& error) const {
  Mistake mistake = mistake_at(path, error.what());
  mistake.cause = error.cause();
  throw FileError({std::move(mistake)}, error.cause());
}

void Places::keep(const std::string& path, const ConfigError& error) {
  wrong_.insert(path);
  for (Mistake mistake : error.mistakes()) {
    // An error about another file, such as a trace, has no place in this document.
    if (mistake.place == Place()) mistake.place = place_of(path);
    if (mistake.name.empty()) mistake.name = mistake.text;
    if (!told_.emplace(mistake.place, mistake.name).second) continue;
    mistakes_.push_back(std::move(mistake));
  }
  if (mistakes_.size() >= kMostMistakes) throw ReadingEnded();
}

bool Places::is_wrong(const std::string& path) const {
  const auto begins_with = [this](const std::string& text) {
    const auto found = wrong_.lower_bound(text);
    return found != wrong_.end() && found->starts_with(text);
  };
  return wrong_.contains(path) || begins_with(path + ".") || begins_with(path + "[");
}

void Places::throw_mistakes() {
  if (mistakes_.empty()) return;
  std::ranges::stable_sort(mistakes_, {}, &Mistake::place);
  const auto has_cause = [this](FileCause cause) {
    return std::ranges::any_of(mistakes_, [&](const Mistake& each) { return each.cause == cause; });
  };
  if (std::ranges::all_of(mistakes_, [](const Mistake& each) { return each.cause.has_value(); })) {
    const FileCause cause = has_cause(FileCause::kOther) ? FileCause::kOther : FileCause::kRights;
    throw FileError(std::move(mistakes_), cause);
  }
  throw ConfigError(std::move(mistakes_));
}

}  // namespace satrelay::config
