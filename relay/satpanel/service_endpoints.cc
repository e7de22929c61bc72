// The table of endpoints declared in relay/satpanel/service.h, and the handlers for sessions, for
// commands, and for programs that use the API.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <sstream>
#include <utility>

#include "relay/client/capture_session.h"
#include "relay/metrics/exposition.h"
#include "relay/satpanel/command_line.h"
#include "relay/satpanel/http/json_listing.h"
#include "relay/satpanel/service.h"

namespace satrelay::panel {
namespace {

constexpr std::size_t kLongestFilter = 1'000;  // characters
constexpr std::uint64_t kLongestCapture = 60;  // seconds
constexpr std::chrono::seconds kLongestReading(30);
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
    {"since", "Only samples later than this; UTC, seconds"},
};
constexpr Parameter kGatewayHistory[] = {
    {"of", "gateway (by default), link, peer or class"},
    {"name", "Name of the link, the peer or the class"},
    kPage[0],
    kPage[1],
    kPage[2],
    kPage[3],
};
constexpr Parameter kEvents[] = {
    {"from", "A position, as `next` of an earlier answer; left out: the latest"},
    {"before", "A position, as `first` of an earlier answer: the latest before it"},
    {"count", "How many at most, up to 500; 100 by default"},
    {"severity", "info (by default), warning or error: events of this severity and worse"},
    {"filter", "Only events with this text in one of their fields"},
};
constexpr Parameter kStream[] = {{"from", "A position; left out: new events only"}};

// Parses a body, which must be a JSON object. Throws BadRequest. In an ordered object, each new key
// is compared with all earlier keys, so a body with many keys would cause much work. The default
// type avoids this.
template <typename Object = nlohmann::json>
Object object_from(const Request& request) {
  Object body = Object::parse(request.body, nullptr, false);
  if (!body.is_object()) throw BadRequest("The body is not a JSON object.");
  return body;
}

std::string text_from(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    throw BadRequest(std::string(name) + ": write a text");
  }
  return found->get<std::string>();
}

}  // namespace

std::span<const Endpoint> Service::endpoints() {
  static constexpr Role kLook = Role::kViewer;
  static constexpr AnswerSchema::Form kMany = AnswerSchema::Form::kPage;
  static constexpr Endpoint kEndpoints[] = {
      {"GET", "/api/v1/session", std::nullopt, "The user that is logged in", {}, &Service::session},
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
      {"GET", "/api/v1/alarms", kLook, "The open alarms, with advice", kPage, &Service::alarms},
      {"GET",
       "/api/v1/status",
       kLook,
       "Flows, memory and sums over all flows",
       {},
       &Service::status,
       {"status"}},
      {"GET",
       "/api/v1/ports",
       kLook,
       "The LAN and the WAN port",
       kPage,
       &Service::ports,
       {"port", kMany}},
      {"GET",
       "/api/v1/counters",
       kLook,
       "Why frames were bridged or dropped and flows ended",
       {},
       &Service::counters,
       {"counters"}},
      {"GET",
       "/api/v1/records",
       kLook,
       "State of the records of flows",
       {},
       &Service::records,
       {"records"}},
      {"GET", "/api/v1/histograms", kLook, "Histograms of durations and sizes", kPage,
       &Service::histograms},
      {"GET", "/api/v1/peers", kLook, "The far gateways", kPage, &Service::peers, {"peer", kMany}},
      {"GET",
       "/api/v1/links",
       kLook,
       "The links and their rates",
       kPage,
       &Service::links,
       {"link", kMany}},
      {"GET",
       "/api/v1/classes",
       kLook,
       "The traffic classes",
       kPage,
       &Service::classes,
       {"class", kMany}},
      {"GET",
       "/api/v1/rules",
       kLook,
       "The rules, with their connections and bytes",
       kPage,
       &Service::rules,
       {"rule", kMany}},
      {"GET",
       "/api/v1/flows",
       kLook,
       "The relayed TCP connections",
       kPage,
       &Service::flows,
       {"flow_summary", kMany}},
      {"GET",
       "/api/v1/flows/{id}",
       kLook,
       "One relayed TCP connection, and what it waits for",
       {},
       &Service::flow,
       {"flow"}},
      {"GET",
       "/api/v1/explain",
       kLook,
       "Which rule holds for a packet, and why",
       kQuestion,
       &Service::explain,
       {"explanation"}},
      {"GET", "/api/v1/bridged", kLook, "Why frames were bridged", kPage, &Service::bridged},
      {"GET",
       "/api/v1/bridged-connections",
       kLook,
       "The latest connections that were bridged instead of relayed, and why",
       kPage,
       &Service::bridged_connections,
       {"bridged_connection", kMany}},
      {"GET", "/api/v1/history", kLook, "An hour of every second, a day of every minute", kSpan,
       &Service::history},
      {"GET", "/api/v1/history/gateway", kLook,
       "The last hour as the gateway keeps it, in steps of ten seconds, the latest first",
       kGatewayHistory, &Service::gateway_history},
      {"GET", "/api/v1/events", kLook, "The events", kEvents, &Service::events},
      {"GET", "/api/v1/events/stream", kLook, "The events as they happen (text/event-stream)",
       kStream, &Service::event_stream},
      {"GET", "/api/v1/commands", kLook, "The commands of the gateway", {}, &Service::commands},
      {"POST",
       "/api/v1/commands/{name}",
       kLook,
       "Gives the command: {\"arguments\": {...}}",
       {},
       &Service::command},
      {"POST",
       "/api/v1/capture",
       Role::kOperator,
       "Captures the frames of a port into a file for Wireshark: {\"port\", \"decrypted\", "
       "\"filter\", \"packets\", \"seconds\"}",
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
                     request.is_https ? "; Secure" : "");
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

// --- commands ------------------------------------------------------------------------------------

Response Service::commands(const Call& call) { return json(describe_commands(*call.role)); }

Response Service::command(const Call& call) {
  const ops::ControlCommandSpec* spec = find_command(call.argument);
  if (spec == nullptr) return problem(404, "There is no command " + call.argument + ".");
  if (*call.role < role_for(*spec)) return refuse_role(role_for(*spec), call);
  const Json body = call.request.body.empty() ? Json::object() : object_from<Json>(call.request);
  const auto given = body.find("arguments");
  // Pass the arguments by reference. A copy is recursive, and a client could nest the arguments so
  // deeply that the stack overflows.
  const Json none = Json::object();
  const std::string line = line_of(*spec, given == body.end() ? none : *given);
  std::string answer;
  try {
    answer = link_.control(fmt::format("as panel:{} {}", call.user, line));
    if (spec->use == ops::ControlUse::kUntilRead && answer == "ok\n") {
      const auto deadline = std::chrono::steady_clock::now() + kLongestReading;
      answer = link_.await_reload(
          [&] { return !is_stopping_ && std::chrono::steady_clock::now() < deadline; });
    }
  } catch (const ctl::StatsError&) {
    throw;
  } catch (const std::runtime_error& error) {
    return problem(502, error.what());
  }
  while (answer.ends_with('\n')) answer.pop_back();
  if (answer.empty()) {
    return problem(502,
                   "The gateway closed the connection without an answer. It may or may not have "
                   "executed the command: check its state.");
  }
  if (answer == "reading") {
    return problem(504,
                   "The gateway is still reading its configuration. An event will report the "
                   "result: reload_done or reload_refused.");
  }
  constexpr std::string_view kError = "error: ";
  if (answer != "ok") {
    return problem(409, answer.starts_with(kError) ? answer.substr(kError.size()) : answer);
  }
  // The client may ask for the state next, and must then see the effect of this command.
  observer_.catch_up();
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
  // libpcap takes seconds to compile a filter of some thousands of characters, and cannot be
  // interrupted.
  if (wish.filter.size() > kLongestFilter) {
    throw BadRequest(fmt::format("filter: write up to {} characters", kLongestFilter));
  }
  wish.packets = number("packets", 1'000, 100'000);
  wish.seconds = static_cast<std::uint32_t>(number("seconds", 30, kLongestCapture));
  wish.on_behalf_of = std::string(ops::kPanelPrefix) + call.user;
  expect_answer();
  const std::unique_lock lock(capture_mutex_, std::try_to_lock);
  if (!lock)
    return problem(409, "Another capture is running on this panel. Try again when it has ended.");
  std::ostringstream file;
  try {
    ctl::CaptureSession session(link_.stats_socket().parent_path() / "capture.sock", wish);
    const auto is_given_up = [&] { return call.request.has_left && call.request.has_left(); };
    session.write_to(file, [&](std::uint64_t) {
      return file.tellp() < kMostCaptured && !is_stopping_ && !is_given_up();
    });
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
  Json schemas = Json::object();
  for (const Endpoint& endpoint : endpoints()) {
    std::string method(endpoint.method);
    std::ranges::transform(method, method.begin(),
                           [](char c) { return static_cast<char>(c | 32); });
    Json operation{{"summary", endpoint.help},
                   {"responses",
                    {{"200", {{"description", "described in docs/panel.md"}}},
                     {"default", {{"description", "RFC 9457: problem+json"}}}}}};
    if (!endpoint.answer.shape.empty()) {
      operation["responses"]["200"]["content"]["application/json"]["schema"] =
          schema_of(endpoint.answer);
      add_schemas(endpoint.answer.shape, schemas);
    }
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
    // Each command has a separate path, with the schema of its body.
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
               {"paths", std::move(paths)},
               {"components", {{"schemas", std::move(schemas)}}}});
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
