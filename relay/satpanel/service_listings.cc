// The handlers declared in relay/satpanel/service.h that show what the gateway reports.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <utility>

#include "relay/client/explain.h"
#include "relay/client/reply.h"
#include "relay/gateway/counters.h"
#include "relay/metrics/reply_fields.h"
#include "relay/ops/events/event.h"
#include "relay/satpanel/http/event_stream.h"
#include "relay/satpanel/http/json_listing.h"
#include "relay/satpanel/kept_for.h"
#include "relay/satpanel/service.h"
#include "relay/satpanel/wall_clock.h"

namespace satrelay::panel {
namespace {

constexpr std::uint64_t kMostFlowsToSort = 20'000;

std::uint64_t number_from(const std::string& text, const char* name) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) {
    throw BadRequest(std::string(name) + ": write a number");
  }
  return number;
}

std::uint64_t position_from(const Request& request) {
  std::string text = request.header("last-event-id");
  if (text.empty()) text = request.parameter("from");
  return text.empty() ? 0 : number_from(text, "from");
}

ListQuery list_query(const Request& request) {
  return parse_list_query(request.parameter("first"), request.parameter("count"),
                          request.parameter("sort"), request.parameter("filter"));
}

// Returns `part`, a member of the latest readings. Throws ctl::StatsError if it is missing.
const Json& seen(const metrics::Readings& readings, const Json& part) {
  if (part.is_null()) {
    throw ctl::StatsError(readings.error.empty() ? "satpanel has not asked the gateway yet"
                                                 : readings.error);
  }
  return part;
}

Json json_of(const std::vector<Alarm>& alarms) {
  Json all = Json::array();
  for (const Alarm& alarm : alarms) {
    all.push_back({{"index", alarm.index},
                   {"name", alarm.name},
                   {"severity", alarm.severity},
                   {"subject", alarm.subject},
                   {"matter", alarm.matter},
                   {"text", alarm.text},
                   {"detail", alarm.detail},
                   {"advice", alarm.advice},
                   {"number", alarm.number},
                   {"since_ms", alarm.since_ms},
                   {"told_ms", alarm.told_ms}});
  }
  return all;
}

Json values_of(const Json& by_name) {
  Json all = Json::array();
  for (const Json& each : by_name) all.push_back(each);
  return all;
}

// Returns the rank of a severity; 0 is the worst. Returns the number of severities if the word is
// not a severity.
std::size_t place_of(std::string_view severity) {
  return static_cast<std::size_t>(std::ranges::find(ops::kSeverityWords, severity) -
                                  ops::kSeverityWords.begin());
}

Json finite(float value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

Response Service::overview(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json({{"up", readings->up},
               {"error", readings->error},
               {"time_ms", wall_clock_ms()},
               {"status", readings->status},
               {"ports", readings->ports},
               {"peers", readings->peers},
               {"classes", readings->classes},
               {"alarms", json_of(*observer_.alarms().alarms())}});
}

Response Service::alarms(const Call& call) {
  return json(page_of(json_of(*observer_.alarms().alarms()), list_query(call.request)));
}

Response Service::status(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json(seen(*readings, readings->status));
}

Response Service::ports(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(values_of(seen(*readings, readings->ports)), list_query(call.request)));
}

Response Service::histograms(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->histograms), list_query(call.request)));
}

Response Service::counters(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json(seen(*readings, readings->counters));
}

Response Service::records(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json(seen(*readings, readings->records));
}

Response Service::peers(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->peers), list_query(call.request)));
}

Response Service::classes(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->classes), list_query(call.request)));
}

Response Service::links(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->links), list_query(call.request)));
}

Response Service::rules(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->rules), list_query(call.request)));
}

void Service::expect_answer() const {
  const auto readings = observer_.latest();
  if (!readings->error.empty()) throw ctl::StatsError(readings->error);
}

// Returns a list that may be some seconds old, for requests that sort or search. There may be very
// many flows, and the worker must describe each of them.
std::shared_ptr<const Json> Service::all_flows() {
  const std::unique_lock fetching(flows_mutex_, std::try_to_lock);
  {
    const std::lock_guard lock(kept_flows_mutex_);
    const auto age = std::chrono::steady_clock::now() - flows_at_;
    // While another request fetches the flows, the old list may be used for twice as long.
    if (flows_ != nullptr && age < (fetching ? 1 : 2) * flows_are_kept_) return flows_;
  }
  if (!fetching) return nullptr;
  const auto begin = std::chrono::steady_clock::now();
  auto fetched = std::make_shared<const Json>(link_.query_all("/satrelay/flows"));
  const std::lock_guard lock(kept_flows_mutex_);
  flows_ = std::move(fetched);
  flows_at_ = std::chrono::steady_clock::now();
  flows_are_kept_ = kept_for(flows_->size(), flows_at_ - begin);
  return flows_;
}

Response Service::flows(const Call& call) {
  const ListQuery query = list_query(call.request);
  expect_answer();
  const auto readings = observer_.latest();
  const auto number = seen(*readings, readings->status).value("flows", std::uint64_t{0});
  if (query.is_plain()) {
    Json entries = link_.query_page("/satrelay/flows", query.first, query.count);
    return json({{"total", number}, {"first", query.first}, {"entries", std::move(entries)}});
  }
  if (number > kMostFlowsToSort) {
    return problem(409, fmt::format("There are {} flows, too many to sort or search: the limit is "
                                    "{}. Ask without sort and filter, page by page.",
                                    number, kMostFlowsToSort));
  }
  const auto all = all_flows();
  if (all == nullptr)
    return problem(503, "Another client has just asked for all flows. Try again in a few seconds.");
  return json(page_of(*all, query));
}

Response Service::flow(const Call& call) {
  const std::uint64_t id = number_from(call.argument, "id");
  expect_answer();
  Json flow = link_.query("/satrelay/flow," + std::to_string(id));
  if (flow.empty()) return problem(404, fmt::format("Flow {} has ended, or never existed.", id));
  ctl::name_unmeasured("flow", flow);
  return json(flow);
}

Response Service::explain(const Call& call) {
  const auto given = [&](const char* name, const std::string& usual) {
    const std::string text = call.request.parameter(name);
    return text.empty() ? usual : text;
  };
  ctl::PacketQuestion question;
  question.source = given("source", "");
  question.destination = given("destination", "");
  question.protocol = given("protocol", question.protocol);
  question.vlan = given("vlan", question.vlan);
  question.dscp = given("dscp", question.dscp);
  question.direction = given("direction", question.direction);
  expect_answer();
  try {
    return json(link_.query("/satrelay/explain," + ctl::explain_parameters(question)));
  } catch (const std::invalid_argument& error) {
    throw BadRequest(error.what());
  }
}

Response Service::bridged(const Call& call) {
  constexpr std::string_view kPrefix = "bridged_";
  const auto readings = observer_.latest();
  const Json& counters = seen(*readings, readings->counters);
  Json reasons = Json::array();
  for (const auto& field : gateway::Counters::kFields) {
    if (!std::string_view(field.name).starts_with(kPrefix)) continue;
    reasons.push_back({{"name", field.name},
                       {"help", field.help},
                       {"count", counters.value(field.name, std::uint64_t{0})}});
  }
  return json(page_of(reasons, list_query(call.request)));
}

Response Service::bridged_connections(const Call& call) {
  const ListQuery query = list_query(call.request);
  expect_answer();
  return json(page_of(link_.query_all("/satrelay/bridged"), query));
}

Response Service::history(const Call& call) {
  const std::string span = call.request.parameter("span");
  if (!span.empty() && span != "hour" && span != "day") throw BadRequest("span: hour or day");
  const bool is_day = span == "day";
  const std::string since = call.request.parameter("since");
  auto samples =
      history_.samples(is_day ? History::Span::kDay : History::Span::kHour, wall_clock_ms() / 1000);
  if (!since.empty()) {
    std::erase_if(samples, [after = number_from(since, "since")](const Sample& sample) {
      return sample.time <= after;
    });
  }
  const auto column = [&](const auto& value_of) {
    Json values = Json::array();
    for (const Sample& sample : samples) values.push_back(value_of(sample));
    return values;
  };
  struct Column {
    const char* name;
    float Sample::*member;
  };
  constexpr Column kColumns[] = {
      {"send_bps", &Sample::send_bps},         {"receive_bps", &Sample::receive_bps},
      {"lan_in_bps", &Sample::lan_in_bps},     {"lan_out_bps", &Sample::lan_out_bps},
      {"loss_ratio", &Sample::loss_ratio},     {"rtt_seconds", &Sample::rtt_seconds},
      {"queued_bytes", &Sample::queued_bytes}, {"compression_ratio", &Sample::compression_ratio},
      {"peers_alive", &Sample::peers_alive},   {"flows", &Sample::flows},
  };
  Json columns{{"time", column([](const Sample& sample) { return Json(sample.time); })}};
  for (const Column& each : kColumns) {
    columns[each.name] = column([&](const Sample& sample) { return finite(sample.*each.member); });
  }
  const std::vector<std::string> classes = history_.class_names();
  struct ColumnsOfClasses {
    const char* name;
    std::array<float, kHistoryClasses> Sample::*member;
  };
  constexpr ColumnsOfClasses kOfClasses[] = {
      {"class_bps", &Sample::class_bps},
      {"class_queued_bytes", &Sample::class_queued_bytes},
      {"class_compression_ratio", &Sample::class_compression_ratio},
  };
  for (const ColumnsOfClasses& each : kOfClasses) {
    Json& of_classes = columns[each.name] = Json::array();
    for (std::size_t i = 0; i < std::min(classes.size(), kHistoryClasses); ++i) {
      of_classes.push_back(
          column([&](const Sample& sample) { return finite((sample.*each.member)[i]); }));
    }
  }
  return json(
      {{"step_seconds", is_day ? 60 : 1}, {"classes", classes}, {"samples", std::move(columns)}});
}

Response Service::gateway_history(const Call& call) {
  const ListQuery query = list_query(call.request);
  const std::string given = call.request.parameter("of");
  const std::string of = given.empty() ? "gateway" : given;
  const std::string name = call.request.parameter("name");
  if (of != "gateway" && of != "link" && of != "peer" && of != "class") {
    throw BadRequest("of: gateway, link, peer or class");
  }
  if ((of == "gateway") != name.empty()) {
    throw BadRequest("name: write the name of a link, a peer or a class; the gateway has none");
  }
  // A comma ends a parameter on the stats socket.
  const bool is_name =
      std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c < 127 && c != ','; });
  if (!is_name || name.size() > ops::kMostEventText)
    throw BadRequest("name: write a name without spaces and commas");
  expect_answer();
  return json(page_of(link_.query_all("/satrelay/history," + of + (name.empty() ? "" : "," + name)),
                      query));
}

Response Service::events(const Call& call) {
  const Request& request = call.request;
  const ListQuery limits =
      parse_list_query("", request.parameter("count"), "", request.parameter("filter"));
  const std::string severity = request.parameter("severity");
  const std::size_t least = severity.empty() ? ops::kSeverityWords.size() : place_of(severity);
  if (!severity.empty() && least == ops::kSeverityWords.size()) {
    throw BadRequest("severity: info, warning or error");
  }
  const auto is_wanted = [&](const Json& event) {
    return place_of(metrics::word(event, "severity").value_or("")) <= least &&
           has_text(event, limits.filter);
  };
  const std::string before = request.parameter("before");
  if (!before.empty() && !request.parameter("from").empty()) {
    throw BadRequest("from and before: write one of them");
  }
  Observer::EventPage page =
      before.empty()
          ? observer_.events(position_from(request), limits.count, is_wanted)
          : observer_.events_before(number_from(before, "before"), limits.count, is_wanted);
  return json({{"events", std::move(page.events)},
               {"first", page.first},
               {"next", page.next},
               {"oldest", page.oldest},
               {"missed", page.has_missed}});
}

Response Service::event_stream(const Call& call) {
  const std::uint64_t from = position_from(call.request);
  // The stream ends when its session ends. An open stream does not count as use of the session.
  auto may_stay = [this, session = call.session_token, token = call.token] {
    if (!token.empty()) return users_.current()->check_token(token) != nullptr;
    if (session.empty()) return users_.is_open_to_all();
    const auto found = sessions_.look_at(session, std::chrono::steady_clock::now());
    return found && is_still_in(*found);
  };
  return {.type = "text/event-stream",
          .body = {},
          .stream = std::make_unique<EventStream>(observer_, from, std::move(may_stay))};
}

}  // namespace satrelay::panel
