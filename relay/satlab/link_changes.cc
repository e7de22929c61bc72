#include "relay/satlab/link_changes.h"

#include <algorithm>
#include <optional>

#include "config/link/read_link_changes.h"
#include "config/link/read_sat_link.h"
#include "config/text/format.h"

namespace satrelay::satlab {
namespace {

using config::Fields;
using config::Value;

// Returns the highest rate that may be announced for these directions. A sending gateway ignores an
// announcement above its configured rate.
BitRate configured_rate(const sim::Scenario& scenario, Ways ways) {
  if (ways == Ways::kAToB) return scenario.a_to_b.rate;
  if (ways == Ways::kBToA) return scenario.b_to_a.rate;
  return std::min(scenario.a_to_b.rate, scenario.b_to_a.rate);
}

Announced read_announced(const config::ChangeEntry& entry, const sim::Scenario& scenario) {
  const Value* value = entry.fields.find("announced");
  if (value == nullptr) return Announced::kNo;
  if (entry.rates.empty()) value->fail("has no effect without rate; write the new rate");
  const auto announced = value->word<Announced>({{"yes", Announced::kYes}, {"no", Announced::kNo}});
  const BitRate configured = configured_rate(scenario, entry.ways);
  if (announced == Announced::kYes && std::ranges::max(entry.rates) > configured) {
    value->fail("is a rate above the link's own " + config::to_text(configured) +
                ", which no gateway obeys; write a lower one, or a faster link");
  }
  return announced;
}

void read_change(const Value& value, Experiment& experiment) {
  const config::ChangeEntry entry = config::read_link_change(value, config::AnnouncedKey::kKnown);
  if (entry.at >= experiment.duration) {
    entry.fields.find("at")->refuse(
        "is not within duration " + config::to_text(experiment.duration),
        "write an earlier time, or raise duration");
  }
  if (entry.outage && entry.ways != Ways::kBoth) {
    entry.fields.find("outage")->fail(
        "contradicts direction: an outage takes both; remove direction");
  }
  const Announced announced = read_announced(entry, experiment.scenario);
  for (const config::LinkChange& change :
       config::occurrences(value, entry, experiment.duration, experiment.changes.size())) {
    experiment.changes.push_back({.at = change.at,
                                  .ways = change.ways,
                                  .rate = change.rate,
                                  .delay = change.delay,
                                  .loss = change.loss,
                                  .outage = change.outage ? std::optional(true) : std::nullopt,
                                  .announced = announced});
    if (change.outage) {
      experiment.changes.push_back({.at = change.at + *change.outage, .outage = false});
    }
  }
}

}  // namespace

void read_link(const Value& value, const std::filesystem::path& folder, Experiment& experiment) {
  const Fields fields =
      value.fields({"both", "a_to_b", "b_to_a", "discipline", "traces", "changes"});
  config::LinkDirections directions = config::read_directions(fields);
  if (const Value* discipline = fields.find("discipline")) {
    directions.a_to_b.discipline = directions.b_to_a.discipline =
        config::read_queue_discipline(*discipline);
  }
  if (const Value* traces = fields.find("traces")) {
    for (const config::LinkChange& change : config::read_link_traces(*traces, folder, directions)) {
      if (change.at >= experiment.duration) continue;
      experiment.changes.push_back({.at = change.at, .ways = change.ways, .delay = change.delay});
    }
  }
  sim::Scenario& scenario = experiment.scenario;
  scenario.a_to_b = directions.a_to_b;
  scenario.b_to_a = directions.b_to_a;
  for (const char* name : {"both", "a_to_b", "b_to_a"}) {
    if (const Value* direction = fields.find(name)) {
      const bool b_to_a = std::string_view(name) == "b_to_a";
      if ((b_to_a ? scenario.b_to_a : scenario.a_to_b).rate.is_zero()) {
        direction->fail_at("rate", "is unlimited; the gateways need to know the rate: write one");
      }
    }
  }
  if (const Value* changes = fields.find("changes")) {
    for (const Value& change : changes->items("write a list of changes")) {
      read_change(change, experiment);
    }
  }
  std::ranges::stable_sort(experiment.changes, {}, &LinkChange::at);
}

}  // namespace satrelay::satlab
