#include "relay/satpanel/service.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "relay/satpanel/assets.h"
#include "relay/satpanel/http/json_listing.h"

namespace satrelay::panel {
namespace {

// With these headers, browsers load nothing from other servers, run no inline scripts, and do not
// show a page of the panel within a frame.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

bool are_equal(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// Returns the part of the path that matches "{...}" at the end of `pattern`. Returns "" if the
// pattern does not end with "{...}", and nullopt if the path does not match.
std::optional<std::string> match(std::string_view pattern, const std::string& path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) {
    return path == pattern ? std::optional<std::string>("") : std::nullopt;
  }
  if (!path.starts_with(pattern.substr(0, brace)) || path.size() == brace) return std::nullopt;
  std::string rest = path.substr(brace);
  return rest.find('/') == std::string::npos ? std::optional(std::move(rest)) : std::nullopt;
}

std::optional<Response> refuse_parameters(const Service::Endpoint& endpoint,
                                          const Request& request) {
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(endpoint.parameters, std::string_view(name), [](const auto& known) {
          return std::string_view(known.name);
        }) != endpoint.parameters.end()) {
      continue;
    }
    std::string known;
    for (const auto& each : endpoint.parameters) {
      known.append(known.empty() ? "There are: " : ", ").append(each.name);
    }
    return problem(400, fmt::format("There is no parameter {} here. {}.", name,
                                    known.empty() ? "There are none" : known));
  }
  return std::nullopt;
}

std::string without_port(const std::string& host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

std::string cookie_name(const Request& request) {
  const std::string host = request.header("host");
  const std::string port = host.substr(without_port(host).size());
  const bool is_port = port.size() > 1 && port.size() <= 6 &&
                       port.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_port ? "satpanel_" + port.substr(1) : "satpanel";
}

Response json(const Json& body) {
  // Replace invalid UTF-8: names may come from hosts and peers.
  return {.body = body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

bool Service::is_host_known(const Request& request) const {
  return options_.hosts.empty() ||
         std::ranges::find(options_.hosts, without_port(request.header("host"))) !=
             options_.hosts.end();
}

Service::Call Service::identify(const Request& request) {
  Call call{.request = request};
  if (users_.is_open_to_all()) {
    call.role = Role::kViewer;
    return call;
  }
  constexpr std::string_view kBearer = "Bearer ";
  if (const std::string given = request.header("authorization"); given.starts_with(kBearer)) {
    const auto users = users_.current();
    const std::string token = given.substr(kBearer.size());
    if (const User* user = users->check_token(token)) {
      call.user = user->name;
      call.role = user->role;
      call.token = token;
    }
    return call;
  }
  const auto cookie = request.cookies.find(cookie_name(request));
  if (cookie == request.cookies.end()) return call;
  const auto session = sessions_.find(cookie->second, std::chrono::steady_clock::now());
  if (session && is_still_in(*session)) {
    call.user = session->user;
    call.role = session->role;
    call.csrf = session->csrf;
    call.session_token = cookie->second;
  }
  return call;
}

Response Service::refuse_role(Role needed, const Call& call) const {
  if (users_.is_open_to_all()) {
    return problem(403,
                   "This panel has no users: every client may look, and none may change anything. "
                   "Start satpanel with --users, and add a user.");
  }
  return problem(403, fmt::format("This needs the role {}; your role is {}.", to_string(needed),
                                  to_string(*call.role)));
}

bool Service::is_still_in(const Session& session) const {
  const auto users = users_.current();
  const User* user = users->find(session.user);
  return user != nullptr && session.is_of(*user);
}

std::optional<Response> Service::refuse(const Endpoint& endpoint, const Call& call) const {
  const bool changes = std::string_view(endpoint.method) != "GET";
  if (changes && !call.request.header("content-type").starts_with("application/json")) {
    return problem(415, "Send application/json.");
  }
  if (!endpoint.role) return std::nullopt;
  if (!call.role) return problem(401, "Log in first.");
  if (*call.role < *endpoint.role) {
    return refuse_role(*endpoint.role, call);
  }
  // A browser sends the cookie even with requests from pages of other sites, but only the panel's
  // own pages know this token.
  if (changes && !call.session_token.empty() &&
      !are_equal(call.request.header("x-csrf-token"), call.csrf)) {
    return problem(403, "The header X-CSRF-Token is missing or wrong. Reload the page.");
  }
  return std::nullopt;
}

Response Service::dispatch(Call& call) {
  const Request& request = call.request;
  std::string allowed;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  for (const Endpoint& endpoint : endpoints()) {
    auto argument = match(endpoint.path, request.path);
    if (!argument) continue;
    if (method != endpoint.method) {
      allowed += allowed.empty() ? "" : ", ";
      allowed += endpoint.method;
      continue;
    }
    if (auto refusal = refuse(endpoint, call)) return std::move(*refusal);
    if (auto refusal = refuse_parameters(endpoint, request)) return std::move(*refusal);
    call.argument = std::move(*argument);
    return (this->*endpoint.handle)(call);
  }
  if (!allowed.empty()) {
    Response response = problem(405, "Allowed here: " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
  }
  if (method == "GET") {
    if (auto asset = find_asset(request.path)) return std::move(*asset);
  }
  return problem(404, "Nothing has this address. GET /api/v1/openapi.json lists the addresses.");
}

Response Service::answer(const Request& request) {
  Response response;
  try {
    if (!is_host_known(request)) {
      response = problem(421, "This panel does not have the name " + request.header("host") +
                                  ". Start satpanel with --host to add the name.");
    } else {
      Call call = identify(request);
      response = dispatch(call);
    }
  } catch (const BadRequest& error) {
    response = problem(400, error.what());
  } catch (const ctl::StatsError& error) {
    response = problem(502, error.what());
  }
  for (const auto& [name, value] : kHeaders) response.headers.emplace_back(name, value);
  if (request.is_https) {
    response.headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
  }
  const bool is_kept = std::ranges::any_of(
      response.headers, [](const auto& header) { return header.first == "Cache-Control"; });
  if (!is_kept) response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace satrelay::panel
