#include "relay/metrics/metric_names.h"

#include <algorithm>

namespace satrelay::metrics {
namespace {

// True if this part of a counter's name is a unit. The name of the base unit replaces it.
bool is_unit(std::string_view word) { return word == "bytes" || word == "ns" || word == "us"; }

}  // namespace

BaseUnit base_unit(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kBytes:
      return {"bytes", 1};
    case CounterUnit::kNanoseconds:
      return {"seconds", 1e9};
    case CounterUnit::kMicroseconds:
      return {"seconds", 1e6};
    case CounterUnit::kNumber:
      break;
  }
  return {"", 1};
}

std::string family_name(std::string_view scope, std::string_view counter, CounterUnit unit) {
  std::string name(scope);
  if (counter.starts_with(scope) && counter.substr(scope.size()).starts_with('_')) {
    counter.remove_prefix(scope.size() + 1);
  }
  const auto add = [&name](std::string_view word) {
    if (!name.empty()) name += '_';
    name += word;
  };
  while (!counter.empty()) {
    const std::string_view word = counter.substr(0, counter.find('_'));
    counter.remove_prefix(std::min(word.size() + 1, counter.size()));
    if (unit == CounterUnit::kNumber || !is_unit(word)) add(word);
  }
  if (unit != CounterUnit::kNumber) add(base_unit(unit).name);
  return name;
}

std::string_view reason_in(const ReasonGroup& group, std::string_view counter) {
  if (counter == group.exception || !counter.starts_with(group.prefix)) return "";
  counter.remove_prefix(group.prefix.size());
  if (counter.empty()) return group.bare_reason;
  if (counter.starts_with('_')) counter.remove_prefix(1);
  return counter;
}

}  // namespace satrelay::metrics
