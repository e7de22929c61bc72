// The handlers of relay/satpanel/service.h, and their table.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <sstream>
#include <utility>

#include "relay/client/capture_session.h"
#include "relay/client/explain.h"
#include "relay/client/reply.h"
#include "relay/gateway/counters.h"
#include "relay/metrics/exposition.h"
#include "relay/satpanel/command_line.h"
#include "relay/satpanel/event_stream.h"
#include "relay/satpanel/json_listing.h"
#include "relay/satpanel/service.h"

namespace satrelay::panel {
namespace {

constexpr std::chrono::seconds kFlowsAreKept(3);
constexpr std::uint64_t kMostFlowsToSort = 20'000;
constexpr std::size_t kLongestFilter = 1'000;         // characters
constexpr std::uint64_t kLongestCapture = 60;         // seconds
constexpr std::streamoff kMostCaptured = 32'000'000;  // bytes

using Endpoint = Service::Endpoint;
using Parameter = Service::Parameter;

constexpr Parameter kPage[] = {
    {"first", "The position of the first entry; 0 by default"},
    {"count", "How many at most, up to 500; 100 by default"},
    {"sort", "A field; with - before it from the largest"},
    {"filter", "Only entries with this text in one of their fields"},
};
constexpr Parameter kQuestion[] = {
    {"source", "Address of the client"},
    {"destination", "Address of the server, or with a port: 198.51.100.7:443"},
    {"protocol", "tcp by default"},
    {"vlan", "untagged by default"},
    {"dscp", "0 by default"},
    {"direction", "outbound (by default) or inbound"},
};
constexpr Parameter kSpan[] = {
    {"span", "hour (by default) or day"},
    {"since", "Only what is later than this; UTC, seconds"},
};
constexpr Parameter kEvents[] = {
    {"from", "A position, as `next` of an earlier answer; left out: the latest"},
    {"count", "How many at most, up to 500; 100 by default"},
};
constexpr Parameter kStream[] = {{"from", "A position; left out: what happens from now on"}};

Response json(const Json& body) {
  // What hosts and peers have named may be no UTF-8.
  return {.body = body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

std::uint64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(now).count());
}

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

// An object, of a body that is one. Throws BadRequest. The usual kind is that of a body from
// anybody: one in order looks through all of its keys for each.
template <typename Object = nlohmann::json>
Object object_from(const Request& request) {
  Object body = Object::parse(request.body, nullptr, false);
  if (!body.is_object()) throw BadRequest("The body is no JSON object.");
  return body;
}

std::string text_from(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    throw BadRequest(std::string(name) + ": write a text");
  }
  return found->get<std::string>();
}

// What was seen last. Throws ctl::StatsError if that is nothing.
const Json& seen(const metrics::Readings& readings, const Json& part) {
  if (part.is_null()) {
    throw ctl::StatsError(readings.error.empty() ? "the gateway was not asked yet"
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

Json finite(float value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

std::span<const Endpoint> Service::endpoints() {
  static constexpr Role kLook = Role::kViewer;
  static constexpr Endpoint kEndpoints[] = {
      {"GET", "/api/v1/session", std::nullopt, "Who is logged in", {}, &Service::session},
      {"POST",
       "/api/v1/session",
       std::nullopt,
       "Logs in: {\"name\", \"password\"}",
       {},
       &Service::log_in},
      {"DELETE", "/api/v1/session", std::nullopt, "Logs out", {}, &Service::log_out},
      {"GET",
       "/api/v1/overview",
       kLook,
       "State, ports, peers, classes and alarms",
       {},
       &Service::overview},
      {"GET", "/api/v1/alarms", kLook, "What is wrong now, and what to do", kPage,
       &Service::alarms},
      {"GET",
       "/api/v1/status",
       kLook,
       "Flows, memory and sums over all flows",
       {},
       &Service::status},
      {"GET", "/api/v1/ports", kLook, "The LAN and the WAN port", {}, &Service::ports},
      {"GET",
       "/api/v1/counters",
       kLook,
       "Why frames were bridged or dropped and flows ended",
       {},
       &Service::counters},
      {"GET", "/api/v1/records", kLook, "How the records of flows fare", {}, &Service::records},
      {"GET", "/api/v1/peers", kLook, "The far gateways", kPage, &Service::peers},
      {"GET", "/api/v1/classes", kLook, "What shares the links", kPage, &Service::classes},
      {"GET", "/api/v1/rules", kLook, "What fell under each rule", kPage, &Service::rules},
      {"GET", "/api/v1/flows", kLook, "The relayed TCP connections", kPage, &Service::flows},
      {"GET",
       "/api/v1/flows/{id}",
       kLook,
       "One of them, and what it waits for",
       {},
       &Service::flow},
      {"GET", "/api/v1/explain", kLook, "Which rule holds for a packet, and why", kQuestion,
       &Service::explain},
      {"GET", "/api/v1/bridged", kLook, "Why frames were bridged", {}, &Service::bridged},
      {"GET", "/api/v1/bridged-connections", kLook,
       "The latest connections that were bridged instead of relayed, and why", kPage,
       &Service::bridged_connections},
      {"GET", "/api/v1/history", kLook, "An hour of every second, a day of every minute", kSpan,
       &Service::history},
      {"GET", "/api/v1/events", kLook, "What has happened", kEvents, &Service::events},
      {"GET", "/api/v1/events/stream", kLook, "The same as it happens (text/event-stream)", kStream,
       &Service::event_stream},
      {"GET", "/api/v1/commands", kLook, "What the gateway can be told", {}, &Service::commands},
      {"POST",
       "/api/v1/commands/{name}",
       kLook,
       "Tells it: {\"arguments\": {...}}",
       {},
       &Service::command},
      {"POST",
       "/api/v1/capture",
       Role::kOperator,
       "A file for Wireshark of what passes a port: {\"port\", \"decrypted\", \"filter\", "
       "\"packets\", \"seconds\"}",
       {},
       &Service::capture},
      {"GET", "/api/v1/openapi.json", std::nullopt, "This description", {}, &Service::openapi},
      {"GET", "/metrics", kLook, "For Prometheus", {}, &Service::metrics},
  };
  return kEndpoints;
}

// --- sessions ------------------------------------------------------------------------------------

Json Service::describe_session(const Call& call) const {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"user", or_null(call.user)},
          {"role", call.role ? Json(std::string(to_string(*call.role))) : Json()},
          {"csrf", or_null(call.csrf)},
          {"login_required", !users_.is_open_to_all()},
          {"version", options_.version}};
}

std::string Service::session_cookie(const Request& request, const std::string& token) const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}", cookie_name(request), token,
                     options_.is_tls ? "; Secure" : "");
}

Response Service::session(const Call& call) { return json(describe_session(call)); }

Response Service::log_in(const Call& call) {
  if (users_.is_open_to_all()) return problem(403, "This panel has no users.");
  const nlohmann::json body = object_from(call.request);
  const std::string name = text_from(body, "name");
  const std::string password = text_from(body, "password");
  const auto now = std::chrono::steady_clock::now();
  const auto wait = throttle_.begin_try(name, call.request.remote, now);
  if (wait.count() > 0) {
    Response response =
        problem(429, fmt::format("Too many wrong passwords. Try again in {} s.", wait.count()));
    response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
    return response;
  }
  const auto users = users_.current();
  const User* user = users->check_password(name, password);
  if (user == nullptr) return problem(401, "Name or password is wrong.");
  throttle_.succeeded(name, call.request.remote);
  const Sessions::Opened opened = sessions_.open(*user, now);
  Call now_in{.request = call.request,
              .user = opened.session.user,
              .role = opened.session.role,
              .csrf = opened.session.csrf};
  Response response = json(describe_session(now_in));
  response.headers.emplace_back("Set-Cookie", session_cookie(call.request, opened.token));
  return response;
}

Response Service::log_out(const Call& call) {
  if (!call.session_token.empty()) {
    if (call.request.header("x-csrf-token") != call.csrf) {
      return problem(403, "The header X-CSRF-Token is missing or wrong.");
    }
    sessions_.close(call.session_token);
  }
  Response response = json(describe_session(Call{.request = call.request}));
  response.headers.emplace_back("Set-Cookie", session_cookie(call.request, "") + "; Max-Age=0");
  return response;
}

// --- what the gateway tells ----------------------------------------------------------------------

Response Service::overview(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json({{"up", readings->up},
               {"error", readings->error},
               {"time_ms", now_ms()},
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

Response Service::ports(const Call& /*call*/) {
  const auto readings = observer_.latest();
  return json(seen(*readings, readings->ports));
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

Response Service::rules(const Call& call) {
  const auto readings = observer_.latest();
  return json(page_of(seen(*readings, readings->rules), list_query(call.request)));
}

void Service::expect_answer() const {
  const auto readings = observer_.latest();
  if (!readings->error.empty()) throw ctl::StatsError(readings->error);
}

// They may be very many, and each page of them is a question to the worker: who sorts or searches
// gets what was found some seconds ago.
std::shared_ptr<const Json> Service::all_flows() {
  const std::unique_lock fetching(flows_mutex_, std::try_to_lock);
  {
    const std::lock_guard lock(kept_flows_mutex_);
    const auto age = std::chrono::steady_clock::now() - flows_at_;
    if (flows_ != nullptr && (!fetching || age < kFlowsAreKept)) return flows_;
  }
  if (!fetching) return nullptr;
  auto fetched = std::make_shared<const Json>(link_.query_all("/satrelay/flows"));
  const std::lock_guard lock(kept_flows_mutex_);
  flows_ = std::move(fetched);
  flows_at_ = std::chrono::steady_clock::now();
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
    return problem(409, fmt::format("There are {} flows, and up to {} are sorted or searched. Ask "
                                    "without sort and filter, page by page.",
                                    number, kMostFlowsToSort));
  }
  const auto all = all_flows();
  if (all == nullptr) return problem(503, "Somebody else has just asked for all flows.");
  return json(page_of(*all, query));
}

Response Service::flow(const Call& call) {
  const std::uint64_t id = number_from(call.argument, "id");
  expect_answer();
  Json flow = link_.query("/satrelay/flow," + std::to_string(id));
  if (flow.empty()) return problem(404, fmt::format("There is no flow {} any more.", id));
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

Response Service::bridged(const Call& /*call*/) {
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
  return json({{"reasons", std::move(reasons)}});
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
      history_.samples(is_day ? History::Span::kDay : History::Span::kHour, now_ms() / 1000);
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
  columns["class_bps"] = Json::array();
  for (std::size_t i = 0; i < std::min(classes.size(), kHistoryClasses); ++i) {
    columns["class_bps"].push_back(
        column([&](const Sample& sample) { return finite(sample.class_bps[i]); }));
  }
  return json(
      {{"step_seconds", is_day ? 60 : 1}, {"classes", classes}, {"samples", std::move(columns)}});
}

Response Service::events(const Call& call) {
  const ListQuery limits = parse_list_query("", call.request.parameter("count"), "", "");
  Observer::EventPage page = observer_.events(position_from(call.request), limits.count);
  return json(
      {{"events", std::move(page.events)}, {"next", page.next}, {"missed", page.has_missed}});
}

Response Service::event_stream(const Call& call) {
  const std::uint64_t from = position_from(call.request);
  // Of a session: only as long as it lasts, without its being used by that.
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

// --- what the gateway is told --------------------------------------------------------------------

Response Service::commands(const Call& call) { return json(describe_commands(*call.role)); }

Response Service::command(const Call& call) {
  const ops::ControlCommandSpec* spec = find_command(call.argument);
  if (spec == nullptr) return problem(404, "There is no command " + call.argument + ".");
  if (*call.role < role_for(*spec)) return refuse_role(role_for(*spec), call);
  const Json body = call.request.body.empty() ? Json::object() : object_from<Json>(call.request);
  const auto given = body.find("arguments");
  const std::string line = line_of(*spec, given == body.end() ? Json::object() : *given);
  std::string answer;
  try {
    answer = link_.control(fmt::format("as panel:{} {}", call.user, line));
  } catch (const ctl::StatsError&) {
    throw;
  } catch (const std::runtime_error& error) {
    return problem(502, error.what());
  }
  while (answer.ends_with('\n')) answer.pop_back();
  constexpr std::string_view kError = "error: ";
  if (answer.starts_with(kError)) return problem(409, answer.substr(kError.size()));
  return json({{"answer", answer}});
}

Response Service::capture(const Call& call) {
  const nlohmann::json body = object_from(call.request);
  const auto number = [&](const char* name, std::uint64_t usual, std::uint64_t most) {
    const auto found = body.find(name);
    if (found == body.end()) return usual;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() - 1 < most) {
      return found->get<std::uint64_t>();
    }
    throw BadRequest(fmt::format("{}: write a number from 1 to {}", name, most));
  };
  ctl::CaptureRequested wish;
  wish.port = text_from(body, "port");
  if (wish.port != "lan" && wish.port != "wan") throw BadRequest("port: write lan or wan");
  if (const auto found = body.find("decrypted"); found != body.end()) {
    if (!found->is_boolean()) throw BadRequest("decrypted: write true or false");
    wish.decrypted = found->get<bool>();
  }
  wish.filter = body.contains("filter") ? text_from(body, "filter") : "";
  // libpcap takes seconds for some thousands, in which nothing can interrupt it.
  if (wish.filter.size() > kLongestFilter) {
    throw BadRequest(fmt::format("filter: write up to {} characters", kLongestFilter));
  }
  wish.packets = number("packets", 1'000, 100'000);
  wish.seconds = static_cast<std::uint32_t>(number("seconds", 30, kLongestCapture));
  wish.on_behalf_of = std::string(ops::kPanelPrefix) + call.user;
  const std::unique_lock lock(capture_mutex_, std::try_to_lock);
  if (!lock) return problem(409, "Somebody else captures here now.");
  std::ostringstream file;
  try {
    ctl::CaptureSession session(link_.stats_socket().parent_path() / "capture.sock", wish);
    session.write_to(file,
                     [&](std::uint64_t) { return file.tellp() < kMostCaptured && !is_stopping_; });
  } catch (const ctl::StatsError&) {
    throw;
  } catch (const std::runtime_error& error) {
    return problem(409, error.what());
  }
  return {.type = "application/x-pcapng",
          .body = std::move(file).str(),
          .headers = {{"Content-Disposition",
                       fmt::format("attachment; filename=\"{}.pcapng\"", wish.port)}}};
}

// --- for programs --------------------------------------------------------------------------------

Response Service::openapi(const Call& /*call*/) {
  Json paths = Json::object();
  for (const Endpoint& endpoint : endpoints()) {
    std::string method(endpoint.method);
    std::ranges::transform(method, method.begin(),
                           [](char c) { return static_cast<char>(c | 32); });
    Json operation{{"summary", endpoint.help},
                   {"responses",
                    {{"200", {{"description", "as docs/panel.md has it"}}},
                     {"default", {{"description", "RFC 9457: problem+json"}}}}}};
    if (endpoint.role) operation["x-role"] = std::string(to_string(*endpoint.role));
    Json parameters = Json::array();
    for (const Parameter& parameter : endpoint.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"in", "query"},
                            {"description", parameter.help},
                            {"schema", {{"type", "string"}}}});
    }
    const std::string path(endpoint.path);
    if (const std::size_t brace = path.find('{'); brace != std::string::npos) {
      parameters.push_back({{"name", path.substr(brace + 1, path.size() - brace - 2)},
                            {"in", "path"},
                            {"required", true},
                            {"schema", {{"type", "string"}}}});
    }
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
    if (endpoint.handle != &Service::command) {
      paths[path][method] = std::move(operation);
      continue;
    }
    // One path each, with what its body has.
    for (const ops::ControlCommandSpec& spec : ops::kControlCommands) {
      if (find_command(spec.name) == nullptr) continue;
      Json one{
          {"summary", spec.help},
          {"x-role", std::string(to_string(role_for(spec)))},
          {"requestBody", {{"content", {{"application/json", {{"schema", schema_of(spec)}}}}}}},
          {"responses", operation["responses"]}};
      paths["/api/v1/commands/" + std::string(spec.name)][method] = std::move(one);
    }
  }
  return json({{"openapi", "3.1.0"},
               {"info", {{"title", "satpanel"}, {"version", options_.version}}},
               {"paths", std::move(paths)}});
}

Response Service::metrics(const Call& call) {
  const bool is_open_metrics =
      call.request.header("accept").find("application/openmetrics-text") != std::string::npos;
  const metrics::ExpositionFormat format =
      is_open_metrics ? metrics::ExpositionFormat::kOpenMetrics : metrics::ExpositionFormat::kText;
  const Json webhooks = options_.webhooks ? options_.webhooks() : Json();
  return {.type = std::string(metrics::content_type(format)),
          .body = metrics::expose(*observer_.latest(), format, webhooks)};
}

}  // namespace satrelay::panel
