#include "relay/satlab/scenario_file.h"

#include <algorithm>
#include <limits>

#include "config/checks/validation.h"
#include "config/link/read_sat_link.h"
#include "config/readers/document.h"
#include "config/readers/read_classes.h"
#include "config/readers/read_common.h"
#include "config/readers/read_limits.h"
#include "config/readers/read_rate_control.h"
#include "config/readers/read_rules.h"
#include "config/readers/read_stp.h"
#include "config/text/format.h"
#include "config/text/text_file.h"
#include "config/text/units.h"
#include "relay/satlab/link_changes.h"

namespace satrelay::satlab {
namespace {

using config::Bounds;
using config::Fields;
using config::Places;
using config::Value;

constexpr Bounds<BitRate> kCableRate{BitRate::bits_per_second(1'000),
                                     BitRate::bits_per_second(400'000'000'000)};
constexpr Bounds<Duration> kTime{Duration::zero(), Duration::seconds(86'400)};
constexpr Bounds<Duration> kDurations{Duration::milliseconds(1), Duration::seconds(86'400)};
constexpr Bounds<Duration> kCableDelays{Duration::zero(), Duration::seconds(1)};
constexpr Bounds<Duration> kTick{Duration::zero(), Duration::milliseconds(100)};
constexpr Bounds<ByteCount> kWindows{ByteCount(4096), ByteCount(1ULL << 30)};
constexpr Bounds<ByteCount> kBytes{ByteCount(0), ByteCount(1ULL << 46)};
constexpr std::uint64_t kMostHosts = 200;
constexpr std::uint64_t kMostMtu = 9000;
constexpr std::uint64_t kMostFlows = 20'000;
// The largest number of samples. It limits the memory of a run, since a sample takes a few
// kilobytes.
constexpr std::int64_t kMostSamples = 100'000;

// --- hosts --------------------------------------------------------------------------------------

struct HostsSpec {
  std::size_t count = 1;
  config::LinkDirection cable;
  std::uint64_t window = 4 << 20;
  std::optional<std::uint16_t> mss;
  control::Congestion congestion = control::Congestion::kCubic;
};

HostsSpec read_hosts_of(const Value& value, HostsSpec spec) {
  const Fields fields =
      value.fields({"count", "rate", "delay", "loss", "window", "mss", "congestion"});
  if (const Value* count = fields.find("count")) {
    spec.count = static_cast<std::size_t>(count->integer({1, kMostHosts}));
  }
  if (const Value* rate = fields.find("rate")) spec.cable.rate = rate->rate(kCableRate);
  if (const Value* delay = fields.find("delay")) spec.cable.delay = delay->duration(kCableDelays);
  if (const Value* loss = fields.find("loss")) spec.cable.loss = loss->share();
  if (const Value* window = fields.find("window")) spec.window = window->size(kWindows).value();
  if (const Value* mss = fields.find("mss")) {
    spec.mss = static_cast<std::uint16_t>(mss->integer({256, 8960}));
  }
  if (const Value* congestion = fields.find("congestion")) {
    spec.congestion = congestion->word<config::Congestion>() == config::Congestion::kCubic
                          ? control::Congestion::kCubic
                          : control::Congestion::kNewReno;
  }
  return spec;
}

// Returns the smallest window scale with which the window can be announced (RFC 7323).
std::uint8_t window_scale_for(std::uint64_t window) {
  std::uint8_t scale = 0;
  while (scale < 14 && (window >> scale) > 65'535) ++scale;
  return scale;
}

void add_hosts(sim::Scenario& scenario, sim::Side side, const HostsSpec& spec, std::uint16_t mtu) {
  sim::Station& station = scenario.station(side);
  station.cable = spec.cable;
  for (std::size_t i = 0; i < spec.count; ++i) {
    sim::HostSpec host = sim::make_host(side, i, scenario.seed);
    host.tcp.send_limit = spec.window;
    host.tcp.receive_limit = spec.window;
    host.tcp.window_scale = window_scale_for(spec.window);
    host.tcp.congestion = spec.congestion;
    host.tcp.mss = spec.mss.value_or(static_cast<std::uint16_t>(mtu - 40));
    host.memory = std::max<std::size_t>(host.memory, 4 * spec.window);
    station.hosts.push_back(host);
  }
}

void read_hosts(const Value* value, sim::Scenario& scenario, std::uint16_t mtu) {
  HostsSpec both;
  both.cable.rate = BitRate::bits_per_second(
      std::max({std::uint64_t{1'000'000'000}, scenario.a_to_b.rate.to_bits_per_second() * 4,
                scenario.b_to_a.rate.to_bits_per_second() * 4}));
  both.cable.delay = Duration::microseconds(100);
  HostsSpec specs[] = {both, both};
  if (value != nullptr) {
    const Fields fields = value->fields({"both", "a", "b"});
    const Value* common = fields.find("both");
    if (common != nullptr) specs[0] = specs[1] = read_hosts_of(*common, both);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const Value* one = fields.find(side == 0 ? "a" : "b");
      if (one == nullptr) continue;
      if (common != nullptr) one->fail("contradicts both; write both, or a and b");
      specs[side] = read_hosts_of(*one, both);
    }
  }
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (specs[side].mss && *specs[side].mss > mtu - 40) {
      value->fail_at(side == 0 ? "a.mss" : "b.mss", "exceeds mtu " + std::to_string(mtu) +
                                                        " less 40; write at most " +
                                                        std::to_string(mtu - 40));
    }
    add_hosts(scenario, static_cast<sim::Side>(side), specs[side], mtu);
  }
}

// --- gateways -----------------------------------------------------------------------------------

// Builds a configuration from the parts of the scenario, and checks it for contradictions as
// satrelayd does.
void check_gateway(const sim::Scenario& scenario, sim::Side side, const Value& gateways) {
  config::Gateway probe;
  probe.lan.interface = "lan";
  probe.wan.interface = "wan";
  probe.lan.mtu = scenario.lan_mtu;
  probe.wan.mtu = scenario.wan_mtu;
  probe.gateway.own = IpAddress::v4({192, 0, 2, 1});
  probe.gateway.address = *IpPrefix::parse("192.0.2.0/30");
  probe.rules = scenario.rules;
  probe.stp = scenario.stp;
  probe.limits = scenario.station(side).limits;
  for (const config::Contradiction& wrong : config::find_contradictions(probe)) {
    gateways.fail_at(wrong.path, wrong.message);
  }
}

void read_gateways(const Value& value, sim::Scenario& scenario, std::uint16_t mtu) {
  const Fields fields =
      value.fields({"classes", "rules", "stp", "limits", "a", "b", "present", "controller",
                    "target", "period", "window", "initial_window", "threshold", "growth",
                    "avoidance_growth", "buffer", "capacity", "ceiling"});
  if (const Value* present = fields.find("present")) {
    scenario.gateways_present = present->word<bool>({{"yes", true}, {"no", false}});
  }
  if (const Value* list = fields.find("classes")) {
    scenario.classes = config::read_classes(*list);
  }
  if (const Value* rules = fields.find("rules")) {
    scenario.rules = config::read_rules(*rules, &scenario.classes);
  }
  scenario.control = config::read_rate_control(
      fields,
      {.rate = std::max(scenario.a_to_b.rate, scenario.b_to_a.rate), .name = "the link's rate"});
  if (const Value* ceiling = fields.find("ceiling")) {
    if (!config::finds_capacity(fields)) ceiling->fail("belongs to capacity: find; remove it");
    scenario.ceiling = ceiling->rate(kCableRate);
  }
  if (const Value* stp = fields.find("stp")) {
    scenario.stp = config::read_stp(*stp, mtu);
    if (scenario.stp.mtu > mtu) {
      stp->fail_at("mtu", std::to_string(scenario.stp.mtu) + " exceeds the scenario's mtu " +
                              std::to_string(mtu) + "; write at most that");
    }
  }
  if (const Value* limits = fields.find("limits")) {
    scenario.stations[0].limits = scenario.stations[1].limits = config::read_limits(*limits);
  }
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    const Value* own = fields.find(side == sim::Side::kA ? "a" : "b");
    if (own == nullptr) continue;
    const Fields of_one = own->fields({"limits", "tick"});
    sim::Station& station = scenario.station(side);
    if (const Value* limits = of_one.find("limits")) {
      if (fields.find("limits") != nullptr) {
        limits->fail("contradicts gateways.limits; write one of the two");
      }
      station.limits = config::read_limits(*limits);
    }
    if (const Value* tick = of_one.find("tick")) station.tick = tick->duration(kTick);
  }
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    check_gateway(scenario, side, value);
  }
}

// --- flows --------------------------------------------------------------------------------------

std::uint64_t read_bytes(const Value& value) {
  if (value.text("write a size, like 20MB, or unlimited") == "unlimited") return kUnlimited;
  return value.size(kBytes).value();
}

std::size_t read_host_index(const Value& value, const sim::Station& station, const char* side) {
  const std::uint64_t index = value.integer({0, kMostHosts - 1});
  if (index >= station.hosts.size()) {
    value.fail("station " + std::string(side) + " has hosts 0 to " +
               std::to_string(station.hosts.size() - 1) + "; write one of them, or raise hosts");
  }
  return static_cast<std::size_t>(index);
}

void read_flow(const Value& value, std::size_t index, Experiment& experiment) {
  const Fields fields = value.fields({"name", "client", "client_host", "server_host", "upload",
                                      "download", "start", "count", "spacing", "content"});
  FlowRequest request;
  request.name = "flow " + std::to_string(index + 1);
  if (const Value* name = fields.find("name")) request.name = name->text("write a name");
  request.client_side =
      fields.require("client", "write a or b, the station whose host opens the connection")
          .word<sim::Side>({{"a", sim::Side::kA}, {"b", sim::Side::kB}});
  const bool at_a = request.client_side == sim::Side::kA;
  const sim::Scenario& scenario = experiment.scenario;
  if (const Value* host = fields.find("client_host")) {
    request.client_host =
        read_host_index(*host, scenario.station(request.client_side), at_a ? "a" : "b");
  }
  if (const Value* host = fields.find("server_host")) {
    request.server_host = read_host_index(
        *host, scenario.station(sim::opposite(request.client_side)), at_a ? "b" : "a");
  }
  if (const Value* bytes = fields.find("upload")) request.upload = read_bytes(*bytes);
  if (const Value* bytes = fields.find("download")) request.download = read_bytes(*bytes);
  if (request.upload == 0 && request.download == 0) {
    value.fail("moves no bytes; write upload: SIZE (client to server) or download: SIZE");
  }
  if (const Value* start = fields.find("start")) request.start = start->duration(kTime);
  if (const Value* count = fields.find("count")) {
    request.count = static_cast<std::size_t>(count->integer({1, kMostFlows}));
  }
  if (const Value* spacing = fields.find("spacing")) {
    if (request.count == 1) spacing->fail("has no effect with one flow; write count too");
    request.spacing = spacing->duration(kTime);
  }
  if (const Value* content = fields.find("content")) {
    request.content = content->word<sim::Content>({{"random", sim::Content::kRandom},
                                                   {"text", sim::Content::kText},
                                                   {"mixed", sim::Content::kMixed},
                                                   {"answers", sim::Content::kAnswers}});
  }
  if (scenario.flows.size() + request.count > kMostFlows) {
    value.fail("brings the flows above " + std::to_string(kMostFlows) + "; write fewer");
  }
  const Duration last =
      request.start + request.spacing * static_cast<std::int64_t>(request.count - 1);
  if (last >= experiment.duration) {
    value.fail("begins its last flow at " + config::to_text(last) + ", not within duration " +
               config::to_text(experiment.duration) + "; raise duration");
  }
  add_flows(experiment, request);
}

// --- the scenario -------------------------------------------------------------------------------

void read_time(const Value& document, const Fields& fields, Experiment& experiment) {
  if (const Value* duration = fields.find("duration")) {
    experiment.duration = duration->duration(kDurations);
  }
  if (const Value* until = fields.find("until")) {
    experiment.until =
        until->word<Until>({{"flows_over", Until::kFlowsOver}, {"duration", Until::kDuration}});
  }
  if (const Value* sampling = fields.find("sampling")) {
    experiment.sampling = sampling->duration(kDurations);
  }
  if (experiment.duration / experiment.sampling > kMostSamples) {
    document.fail_at("sampling", "makes more than " + std::to_string(kMostSamples) +
                                     " samples of duration " +
                                     config::to_text(experiment.duration) + "; write a longer one");
  }
}

std::uint16_t read_mtu(const Value& value) {
  return static_cast<std::uint16_t>(value.integer({576, kMostMtu}));
}

Experiment read_scenario(const Value& document, const std::string& file,
                         std::optional<std::uint64_t> seed) {
  const Fields fields = document.fields({"name", "seed", "link", "overhead", "mtu", "gateways",
                                         "hosts", "flows", "duration", "until", "sampling"});
  Experiment experiment;
  sim::Scenario& scenario = experiment.scenario;
  experiment.name = std::filesystem::path(file).stem().string();
  if (const Value* name = fields.find("name")) experiment.name = name->text("write a name");
  if (const Value* given = fields.find("seed")) {
    scenario.seed = given->integer({0, std::numeric_limits<std::uint64_t>::max()});
  }
  scenario.seed = seed.value_or(scenario.seed);
  if (const Value* overhead = fields.find("overhead")) {
    scenario.overhead = config::overhead().read(*overhead);
  }
  std::uint16_t mtu = 1500;
  if (const Value* value = fields.find("mtu")) mtu = read_mtu(*value);
  sim::set_mtu(scenario, {mtu, mtu});
  read_time(document, fields, experiment);
  read_link(fields.require("link", "write {both: {rate: 50Mbit, delay: 275ms}}"),
            std::filesystem::path(file).parent_path(), experiment);
  read_hosts(fields.find("hosts"), scenario, mtu);
  if (const Value* gateways = fields.find("gateways")) read_gateways(*gateways, scenario, mtu);
  experiment.warm_up = warm_up_for(scenario);
  const Value& flows = fields.require("flows", "write a list, like [{client: a, download: 20MB}]");
  const std::vector<Value> items = flows.items("write a list of flows");
  if (items.empty()) flows.fail("is empty; describe at least one flow");
  for (std::size_t i = 0; i < items.size(); ++i) read_flow(items[i], i, experiment);
  return experiment;
}

}  // namespace

Experiment parse_scenario(const std::string& text, const std::string& file,
                          std::optional<std::uint64_t> seed) {
  Places places(file);
  return read_scenario(config::parse_document(text, places, file), file, seed);
}

Experiment load_scenario(const std::filesystem::path& file, std::optional<std::uint64_t> seed) {
  return parse_scenario(config::read_text_file(file, config::kMostDocumentBytes), file.string(),
                        seed);
}

}  // namespace satrelay::satlab
