// Answers the panel's requests. Has the table of endpoints, with the role that each endpoint needs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/history.h"
#include "relay/satpanel/http/answer_schema.h"
#include "relay/satpanel/http/http.h"
#include "relay/satpanel/observer.h"
#include "relay/satpanel/users/sessions.h"
#include "relay/satpanel/users/user_file.h"

namespace satrelay::panel {

// Returns the name of the session cookie. The name contains the port to which the browser sent the
// request. Cookies are valid for all ports of a host, and a host may have several panels, or
// several ssh tunnels to panels.
std::string cookie_name(const Request& request);

Response json(const Json& body);

struct ServiceOptions {
  std::string version;
  // The names by which clients may address the panel. If this is empty, any name is allowed. The
  // check prevents DNS rebinding, in which a page from another site resolves its own name to this
  // machine, and could then read the panel's answers.
  std::vector<std::string> hosts;
  // Returns the counters for the metrics, as Webhooks::counters() does. May be an empty function.
  std::function<Json()> webhooks = {};
};

class Service {
 public:
  Service(ServiceOptions options, GatewayLink& link, Observer& observer, History& history,
          UserFile& users, Sessions& sessions)
      : options_(std::move(options)),
        link_(link),
        observer_(observer),
        history_(history),
        users_(users),
        sessions_(sessions) {}

  // May be called in any thread.
  Response answer(const Request& request);
  // Ends long requests soon. Call this before the program exits.
  void stop() { is_stopping_ = true; }

  // A request and its sender.
  struct Call {
    const Request& request;
    std::string user = {};           // "" if no user has logged in
    std::optional<Role> role = {};   // nullopt if the sender must log in first
    std::string csrf = {};           // CSRF token of the session, or ""
    std::string session_token = {};  // token of the session; "" if there is no session
    std::string token = {};          // token of a program, or ""
    std::string argument = {};       // the part of the path that matches "{...}"
  };

  struct Parameter {
    const char* name;
    const char* help;
  };
  struct Endpoint {
    const char* method;
    const char* path;          // "{...}" at the end matches one part of a path
    std::optional<Role> role;  // nullopt if the endpoint needs no login
    const char* help;
    std::span<const Parameter> parameters;
    Response (Service::*handle)(const Call& call);
    AnswerSchema answer = {};  // for the description of the API
  };
  static std::span<const Endpoint> endpoints();

 private:
  Call identify(const Request& request);
  bool is_host_known(const Request& request) const;
  Response dispatch(Call& call);
  Response refuse_role(Role needed, const Call& call) const;
  std::optional<Response> refuse(const Endpoint& endpoint, const Call& call) const;

  Response session(const Call& call);
  Response log_in(const Call& call);
  Response log_out(const Call& call);
  Response overview(const Call& call);
  Response alarms(const Call& call);
  Response status(const Call& call);
  Response ports(const Call& call);
  Response counters(const Call& call);
  Response records(const Call& call);
  Response histograms(const Call& call);
  Response peers(const Call& call);
  Response classes(const Call& call);
  Response links(const Call& call);
  Response rules(const Call& call);
  Response flows(const Call& call);
  Response flow(const Call& call);
  Response explain(const Call& call);
  Response bridged(const Call& call);
  Response bridged_connections(const Call& call);
  Response history(const Call& call);
  Response gateway_history(const Call& call);
  Response events(const Call& call);
  Response event_stream(const Call& call);
  Response commands(const Call& call);
  Response command(const Call& call);
  Response capture(const Call& call);
  Response openapi(const Call& call);
  Response metrics(const Call& call);

  Json describe_session(const Call& call) const;
  // Returns the value for the header Set-Cookie.
  std::string session_cookie(const Request& request, const std::string& token) const;
  bool is_still_in(const Session& session) const;
  // Throws ctl::StatsError if the gateway did not answer the latest reading.
  void expect_answer() const;
  // Returns all flows, either as they are now or as they were some seconds ago. Returns nullptr if
  // the kept flows are too old and another request is fetching new ones. Throws ctl::StatsError.
  std::shared_ptr<const Json> all_flows();

  ServiceOptions options_;
  GatewayLink& link_;
  Observer& observer_;
  History& history_;
  UserFile& users_;
  Sessions& sessions_;
  LoginThrottle throttle_;

  std::mutex capture_mutex_;  // the gateway allows one capture at a time

  std::atomic<bool> is_stopping_ = false;

  std::mutex flows_mutex_;  // held while the flows are fetched
  std::mutex kept_flows_mutex_;
  std::shared_ptr<const Json> flows_;  // kept_flows_mutex_ guards this member and the next two
  std::chrono::steady_clock::time_point flows_at_;
  std::chrono::nanoseconds flows_are_kept_{};  // how long flows_ may be used after flows_at_
};

}  // namespace satrelay::panel
