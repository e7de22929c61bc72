#include "relay/satlab/link_changes.h"

#include <algorithm>
#include <vector>

#include "config/format.h"
#include "config/read_sat_link.h"
#include "relay/satlab/trace_file.h"

namespace satrelay::satlab {
namespace {

using config::Bounds;
using config::Fields;
using config::Value;

constexpr Bounds<Duration> kTime{Duration::zero(), Duration::seconds(86'400)};
constexpr Bounds<Duration> kPeriod{Duration::milliseconds(1), Duration::seconds(86'400)};
constexpr Bounds<Duration> kDelay{Duration::zero(), Duration::seconds(10)};
constexpr Bounds<BitRate> kRate{BitRate::bits_per_second(1'000),
                                BitRate::bits_per_second(100'000'000'000)};
constexpr std::size_t kMostChanges = 100'000;

// The values of a key, taken in turn each time the change happens.
template <typename T, typename Read>
std::vector<T> read_list(const Value* value, Read&& read) {
  std::vector<T> list;
  if (value == nullptr) return list;
  for (const Value& item : value->items_or_single()) list.push_back(read(item));
  if (list.empty()) value->fail("is empty; write one value, or several that take turns");
  return list;
}

template <typename T>
std::optional<T> in_turn(const std::vector<T>& list, std::size_t turn) {
  if (list.empty()) return std::nullopt;
  return list[turn % list.size()];
}

void read_change(const Value& value, Experiment& experiment) {
  const Fields fields = value.fields(
      {"at", "every", "until", "direction", "rate", "announced", "delay", "loss", "outage"});
  const Value& at = fields.require("at", "write when it happens, like 10s");
  LinkChange change;
  change.at = at.duration(kTime);
  if (change.at >= experiment.duration) {
    at.refuse("is not within duration " + config::to_text(experiment.duration),
              "write an earlier time, or raise duration");
  }
  if (const Value* direction = fields.find("direction")) {
    change.ways = direction->word<Ways>(
        {{"both", Ways::kBoth}, {"a_to_b", Ways::kAToB}, {"b_to_a", Ways::kBToA}});
  }
  const auto rates =
      read_list<BitRate>(fields.find("rate"), [](const Value& v) { return v.rate(kRate); });
  const auto losses =
      read_list<double>(fields.find("loss"), [](const Value& v) { return v.share(); });
  const auto delays =
      read_list<Duration>(fields.find("delay"), [](const Value& v) { return v.duration(kDelay); });
  std::optional<Duration> outage;
  if (const Value* length = fields.find("outage")) {
    outage = length->duration(kPeriod);
    if (change.ways != Ways::kBoth) {
      length->fail("contradicts direction: an outage takes both; remove direction");
    }
  }
  if (const Value* announced = fields.find("announced")) {
    if (rates.empty()) announced->fail("says nothing without rate; write the new rate");
    change.announced =
        announced->word<Announced>({{"yes", Announced::kYes}, {"no", Announced::kNo}});
    const BitRate configured =
        change.ways == Ways::kAToB ? experiment.scenario.a_to_b.rate
        : change.ways == Ways::kBToA
            ? experiment.scenario.b_to_a.rate
            : std::min(experiment.scenario.a_to_b.rate, experiment.scenario.b_to_a.rate);
    if (change.announced == Announced::kYes && std::ranges::max(rates) > configured) {
      announced->fail("says a rate above the link's own " + config::to_text(configured) +
                      ", which no gateway obeys; write a lower one, or a faster link");
    }
  }
  if (rates.empty() && losses.empty() && delays.empty() && !outage) {
    value.fail("changes nothing; write rate, delay, loss or outage");
  }
  Duration every = Duration::infinite();
  Duration until = experiment.duration;
  if (const Value* period = fields.find("every")) every = period->duration(kPeriod);
  if (const Value* end = fields.find("until")) {
    if (every.is_infinite()) end->fail("says nothing without every; write how often");
    until = std::min(until, end->duration(kTime));
  }
  if (outage && *outage >= every) {
    fields.find("outage")->fail("is not shorter than every; write a shorter one");
  }
  std::size_t turn = 0;
  for (Duration when = change.at; when < until; when = when + every) {
    if (experiment.changes.size() >= kMostChanges) {
      value.fail("brings the changes above " + std::to_string(kMostChanges) +
                 "; write a longer every");
    }
    change.at = when;
    change.rate = in_turn(rates, turn);
    change.delay = in_turn(delays, turn);
    change.loss = in_turn(losses, turn);
    change.outage = outage ? std::optional(true) : std::nullopt;
    experiment.changes.push_back(change);
    if (outage) {
      experiment.changes.push_back({.at = when + *outage, .rate = {}, .loss = {}, .outage = false});
    }
    ++turn;
  }
}

// What was recorded of one direction, or of both.
void read_traces_of(const Value& value, Ways ways, const std::filesystem::path& folder,
                    Experiment& experiment) {
  const Fields fields = value.fields({"loss", "delay"});
  sim::Scenario& scenario = experiment.scenario;
  if (const Value* loss = fields.find("loss")) {
    const config::LossTrace trace = read_loss_trace(folder / loss->text("write a file's name"));
    for (config::LinkDirection* direction : {&scenario.a_to_b, &scenario.b_to_a}) {
      const bool meant =
          ways == Ways::kBoth || (ways == Ways::kAToB) == (direction == &scenario.a_to_b);
      if (!meant) continue;
      if (direction->loss > 0 || direction->gilbert_elliott) {
        loss->fail("contradicts the direction's loss; write one of the two");
      }
      direction->loss_trace = trace;
    }
  }
  if (const Value* delay = fields.find("delay")) {
    for (const config::DelayStep& step :
         read_delay_trace(folder / delay->text("write a file's name"))) {
      if (step.at >= experiment.duration) break;
      if (experiment.changes.size() >= kMostChanges) {
        delay->fail("brings the changes above " + std::to_string(kMostChanges));
      }
      LinkChange change;
      change.at = step.at;
      change.ways = ways;
      change.delay = step.delay;
      experiment.changes.push_back(change);
    }
  }
}

void read_traces(const Value& value, const std::filesystem::path& folder, Experiment& experiment) {
  const Fields fields = value.fields({"both", "a_to_b", "b_to_a"});
  if (const Value* both = fields.find("both")) {
    read_traces_of(*both, Ways::kBoth, folder, experiment);
  }
  if (const Value* one = fields.find("a_to_b")) {
    read_traces_of(*one, Ways::kAToB, folder, experiment);
  }
  if (const Value* one = fields.find("b_to_a")) {
    read_traces_of(*one, Ways::kBToA, folder, experiment);
  }
}

}  // namespace

void read_link(const Value& value, const std::filesystem::path& folder, Experiment& experiment) {
  const Fields fields =
      value.fields({"both", "a_to_b", "b_to_a", "discipline", "traces", "changes"});
  const config::LinkDirections directions = config::read_directions(value, fields);
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
  if (const Value* discipline = fields.find("discipline")) {
    scenario.a_to_b.discipline = scenario.b_to_a.discipline =
        discipline->word<config::QueueDiscipline>(
            {{"tail_drop", config::QueueDiscipline::kTailDrop},
             {"priority", config::QueueDiscipline::kPriority}});
  }
  if (const Value* traces = fields.find("traces")) read_traces(*traces, folder, experiment);
  if (const Value* changes = fields.find("changes")) {
    for (const Value& change : changes->items("write a list of changes")) {
      read_change(change, experiment);
    }
  }
  std::ranges::stable_sort(experiment.changes, {}, &LinkChange::at);
}

}  // namespace satrelay::satlab
