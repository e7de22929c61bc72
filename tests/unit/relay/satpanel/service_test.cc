#include "relay/satpanel/service.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "relay/ops/stats/capture_format.h"
#include "relay/satpanel/users/users.h"
#include "tests/unit/relay/satpanel/fake_gateway.h"
#include "tests/unit/relay/satpanel/fake_socket.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::panel::service_test {
namespace {

Request request_of(const std::string& method, const std::string& path,
                   std::map<std::string, std::string> headers = {}, const std::string& body = "") {
  return {.method = method,
          .path = path,
          .query = {},
          .headers = std::move(headers),
          .cookies = {},
          .body = body,
          .remote = "127.0.0.1"};
}

std::string name_for(const std::string& host) {
  return cookie_name(request_of("GET", "/", {{"host", host}}));
}

// "" if the header is missing.
std::string header_of(const Response& response, const std::string& name) {
  const auto found =
      std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? "" : found->second;
}

// Runs `action` in a thread with a stack of 512 KiB.
void with_small_stack(const std::function<void()>& action) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 512 * 1024);
  pthread_t thread{};
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&thread, &attributes, run,
                             const_cast<void*>(static_cast<const void*>(&action))),
            0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

// A panel with one administrator. Its gateway is not there.
class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    Users users;
    users.put({.name = "ann",
               .role = Role::kAdministrator,
               .password_hash = hash_password("pass"),
               .token_hash = hash_token("secret")});
    users.save(folder_.path() / "users.yaml");
    file_ = std::make_unique<UserFile>(folder_.path() / "users.yaml");
    start({});
  }
  void start(ServiceOptions options) {
    service_ = std::make_unique<Service>(std::move(options), link_, observer_, history_, *file_,
                                         sessions_);
  }
  Response log_in(bool is_https = false) {
    Request request = request_of("POST", "/api/v1/session",
                                 {{"host", "localhost:8440"}, {"content-type", "application/json"}},
                                 R"({"name": "ann", "password": "pass"})");
    request.is_https = is_https;
    return service_->answer(request);
  }

  TemporaryFolder folder_;
  GatewayLink link_{{.stats = "/nowhere/dpdk_telemetry.v2", .control = ""}};
  History history_{""};
  Observer observer_{link_, history_, [] {}};
  Sessions sessions_;
  std::unique_ptr<UserFile> file_;
  std::unique_ptr<Service> service_;
};

// Two panels on one host, as with ssh tunnels, must not log out each other's users.
TEST(Service, HasACookieForEachPort) {
  EXPECT_EQ(name_for("localhost:8440"), "satpanel_8440");
  EXPECT_EQ(name_for("[::1]:8441"), "satpanel_8441");
  EXPECT_EQ(name_for("panel.example"), "satpanel");
  EXPECT_EQ(name_for("[::1]"), "satpanel");
}

TEST(Service, TakesNothingElseIntoTheNameOfACookie) {
  for (const char* host :
       {"localhost:", "localhost:x", "localhost:1;a=b", "localhost:1234567", ""}) {
    EXPECT_EQ(name_for(host), "satpanel") << host;
  }
}

TEST_F(ServiceTest, GivesACookieThatNoScriptReadsAndNoOtherSiteSends) {
  const Response response = log_in();
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string cookie = header_of(response, "Set-Cookie");
  EXPECT_TRUE(cookie.starts_with("satpanel_8440=")) << cookie;
  EXPECT_NE(cookie.find("; HttpOnly"), std::string::npos) << cookie;
  EXPECT_NE(cookie.find("; SameSite=Strict"), std::string::npos) << cookie;
  EXPECT_NE(cookie.find("; Path=/"), std::string::npos) << cookie;
  EXPECT_EQ(cookie.find("Secure"), std::string::npos) << "of a connection without encryption";
  EXPECT_EQ(header_of(response, "Strict-Transport-Security"), "");
}

// The web server has told the panel that the browser's connection is encrypted.
TEST_F(ServiceTest, OfAnEncryptedConnectionTheCookieNeverGoesPlain) {
  const Response response = log_in(true);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(header_of(response, "Set-Cookie").ends_with("; Secure"));
  EXPECT_EQ(header_of(response, "Strict-Transport-Security"), "max-age=31536000");
}

TEST_F(ServiceTest, LogsOutByTakingBackTheCookieThatItGave) {
  const Response in = log_in();
  const std::string given = header_of(in, "Set-Cookie");
  const std::size_t equals = given.find('=');
  Request out = request_of("DELETE", "/api/v1/session",
                           {{"host", "localhost:8440"},
                            {"content-type", "application/json"},
                            {"x-csrf-token", Json::parse(in.body).at("csrf").get<std::string>()}});
  out.cookies[given.substr(0, equals)] = given.substr(equals + 1, given.find(';') - equals - 1);
  const Response response = service_->answer(out);
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string taken = header_of(response, "Set-Cookie");
  EXPECT_TRUE(taken.starts_with("satpanel_8440=;")) << taken;
  EXPECT_NE(taken.find("Max-Age=0"), std::string::npos) << taken;
}

// A page of the panel, replies, and a refusal.
TEST_F(ServiceTest, TellsTheBrowserWithEachAnswerWhatItMayDoWithIt) {
  for (const char* path : {"/", "/api/v1/session", "/api/v1/peers", "/nothing"}) {
    const Response response = service_->answer(request_of("GET", path));
    const std::string policy = header_of(response, "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"))
        << path << ": " << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << policy;
    EXPECT_NE(policy.find("base-uri 'none'"), std::string::npos) << policy;
    EXPECT_EQ(header_of(response, "X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(header_of(response, "Referrer-Policy"), "no-referrer") << path;
    EXPECT_EQ(header_of(response, "Cross-Origin-Opener-Policy"), "same-origin") << path;
    EXPECT_EQ(header_of(response, "Cross-Origin-Resource-Policy"), "same-origin") << path;
    EXPECT_EQ(header_of(response, "Cache-Control"),
              path == std::string("/") ? "no-cache" : "no-store");
  }
}

TEST_F(ServiceTest, SaysOfACaptureTooThatTheGatewayDoesNotAnswer) {
  observer_.catch_up();
  const Response response = service_->answer(
      request_of("POST", "/api/v1/capture",
                 {{"authorization", "Bearer secret"}, {"content-type", "application/json"}},
                 R"({"port": "lan"})"));
  EXPECT_EQ(response.status, 502) << response.body;
}

// A panel that is open to all, beside a gateway.
class LookingServiceTest : public testing::Test {
 protected:
  LookingServiceTest() {
    gateway_.set("/satrelay/status", {{"flows", 1U}, {"age_ms", 0U}});
    gateway_.set("/satrelay/counters", {{"bridged_bypass", 7U}, {"bridged_not_tcp", 9U}});
    gateway_.set("/satrelay/ports", {{"lan", {{"name", "lan"}, {"link", "up"}}},
                                     {"wan", {{"name", "wan"}, {"link", "down"}}}});
    gateway_.set("/satrelay/histograms", Json::array({Json{{"name", "wait"}, {"count", 3U}},
                                                      Json{{"name", "round"}, {"count", 5U}}}));
    gateway_.set("/satrelay/history", Json::array({Json{{"time_ms", 2U}}, Json{{"time_ms", 1U}}}));
    observer_.catch_up();
  }
  Response get(const std::string& path, std::map<std::string, std::string> query = {}) {
    Request request = request_of("GET", "/api/v1" + path);
    request.query = std::move(query);
    return service_.answer(request);
  }
  Json json_of(const std::string& path, std::map<std::string, std::string> query = {}) {
    const Response response = get(path, std::move(query));
    EXPECT_EQ(response.status, 200) << path << ": " << response.body;
    return Json::parse(response.body);
  }
  void refuses(const std::string& path, std::map<std::string, std::string> query,
               const std::string& why, int status = 400) {
    const Response response = get(path, std::move(query));
    EXPECT_EQ(response.status, status) << path << ": " << response.body;
    EXPECT_EQ(response.type, "application/problem+json");
    EXPECT_NE(Json::parse(response.body).value("detail", "").find(why), std::string::npos)
        << response.body;
  }

  TemporaryFolder folder_;
  FakeGateway gateway_{folder_.path() / "s"};
  GatewayLink link_{{.stats = (folder_.path() / "s").string(), .control = ""}};
  History history_{""};
  Observer observer_{link_, history_, [] {}};
  Sessions sessions_;
  UserFile users_{""};
  Service service_{{}, link_, observer_, history_, users_, sessions_};
};

TEST_F(LookingServiceTest, ListsTablesByPagesSortedAndFiltered) {
  EXPECT_EQ(json_of("/ports").at("total"), 2);
  EXPECT_EQ(json_of("/ports", {{"filter", "down"}}).at("entries").at(0).at("name"), "wan");
  EXPECT_EQ(json_of("/histograms", {{"sort", "-count"}}).at("entries").at(0).at("name"), "round");
  const Json bridged = json_of("/bridged", {{"sort", "-count"}, {"count", "1"}});
  EXPECT_EQ(bridged.at("entries").size(), 1U);
  EXPECT_EQ(bridged.at("entries").at(0).at("name"), "bridged_not_tcp");
  EXPECT_EQ(json_of("/alarms").at("total"), 0);
}

TEST_F(LookingServiceTest, HasTheGatewaysOwnHistory) {
  EXPECT_EQ(json_of("/history/gateway", {{"sort", "time_ms"}}).at("entries").at(0).at("time_ms"),
            1);
  refuses("/history/gateway", {{"of", "link"}}, "name");
  refuses("/history/gateway", {{"name", "sat"}}, "name");
  refuses("/history/gateway", {{"of", "moon"}}, "gateway, link, peer or class");
  refuses("/history/gateway", {{"of", "peer"}, {"name", "a,0,1"}}, "name");
}

TEST_F(LookingServiceTest, RefusesAParameterThatItDoesNotKnow) {
  refuses("/events", {{"severty", "error"}}, "severty here. There are: from, before, count");
  refuses("/status", {{"first", "0"}}, "There are none");
  refuses("/peers", {{"first", "0"}, {"", ""}}, "first, count, sort, filter");
  EXPECT_EQ(service_.answer(request_of("GET", "/assets/main.js")).status, 200);
}

TEST_F(LookingServiceTest, TellsEventsByWhatTheyAreAndWhen) {
  gateway_.tell("bypass_set", 3, "bypass");
  gateway_.tell("table_full", 1, "the limit of connections is reached", "warning");
  gateway_.tell("port_down", 1, "Link down", "error");
  for (int i = 0; i < 100 && observer_.events(0, 0).next < 6; ++i) observer_.catch_up();
  const auto numbers = [&](std::map<std::string, std::string> query) {
    std::string text;
    const Json page = json_of("/events", std::move(query));
    for (const Json& event : page.at("events")) {
      text += std::to_string(event.at("number").get<int>()) + ' ';
    }
    return text;
  };
  EXPECT_EQ(numbers({}), "1 2 3 4 5 ");
  EXPECT_EQ(numbers({{"severity", "warning"}}), "4 5 ");
  EXPECT_EQ(numbers({{"severity", "error"}}), "5 ");
  EXPECT_EQ(numbers({{"filter", "link DOWN"}}), "5 ");
  EXPECT_EQ(numbers({{"count", "2"}}), "4 5 ");
  EXPECT_EQ(numbers({{"before", "4"}, {"count", "2"}}), "2 3 ");
  EXPECT_EQ(numbers({{"from", "2"}, {"count", "2"}}), "2 3 ");
  const Json page = json_of("/events", {{"count", "2"}});
  EXPECT_EQ(page.at("first"), 4);
  EXPECT_EQ(page.at("next"), 6);
  EXPECT_EQ(page.at("oldest"), 1);
  refuses("/events", {{"severity", "grave"}}, "info, warning or error");
  refuses("/events", {{"from", "1"}, {"before", "2"}}, "one of them");
  refuses("/events", {{"before", "now"}}, "number");
}

TEST_F(LookingServiceTest, SortsNoMoreFlowsThanItCanHold) {
  gateway_.set("/satrelay/status", {{"flows", 20'001U}});
  gateway_.set("/satrelay/flows", Json::array({Json{{"id", 1U}}, Json{{"id", 2U}}}));
  observer_.catch_up();
  refuses("/flows", {{"sort", "-id"}}, "page by page", 409);
  refuses("/flows", {{"filter", "x"}}, "page by page", 409);
  const Json page = json_of("/flows", {{"first", "1"}, {"count", "1"}});
  EXPECT_EQ(page.at("total"), 20'001);
  EXPECT_EQ(page.at("entries").at(0).at("id"), "2");
  gateway_.set("/satrelay/status", {{"flows", 20'000U}});
  observer_.catch_up();
  EXPECT_EQ(json_of("/flows", {{"sort", "-id"}}).at("entries").at(0).at("id"), "2");
}

// The panel keeps flows for three seconds. While another request fetches them anew, it shows them
// for three seconds more.
TEST_F(LookingServiceTest, ShowsNoOldFlowsWhileSomebodyElseFetchesThem) {
  gateway_.set("/satrelay/flows", Json::array({Json{{"id", 1U}}}));
  EXPECT_EQ(json_of("/flows", {{"sort", "id"}}).at("total"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(6'100));
  observer_.catch_up();
  const auto ask = [&] { return get("/flows", {{"sort", "id"}}).status; };
  std::set<int> statuses;
  {
    const auto held = gateway_.hold();
    auto one = std::async(std::launch::async, ask);
    auto other = std::async(std::launch::async, ask);
    statuses = {one.get(), other.get()};
  }
  EXPECT_EQ(statuses, (std::set{502, 503}));
}

TEST_F(LookingServiceTest, RefusesADirectionThatThereIsNot) {
  refuses("/explain", {{"source", "10.0.0.5"}, {"destination", "10.0.0.6"}, {"direction", "up"}},
          "outbound, inbound");
}

TEST_F(LookingServiceTest, SpeaksOpenMetricsToWhoAcceptsIt) {
  const auto metrics = [&](const std::string& accept) {
    return service_.answer(request_of("GET", "/metrics", {{"accept", accept}}));
  };
  const std::string prometheus =
      "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5";
  EXPECT_TRUE(metrics(prometheus).type.starts_with("application/openmetrics-text; version=1.0.0"))
      << metrics(prometheus).type;
  EXPECT_TRUE(metrics(prometheus).body.ends_with("# EOF\n"));
  for (const char* other : {"", "*/*", "text/plain"}) {
    EXPECT_TRUE(metrics(other).type.starts_with("text/plain; version=0.0.4")) << other;
    EXPECT_FALSE(metrics(other).body.ends_with("# EOF\n")) << other;
  }
}

// A panel with an administrator, beside a gateway that answers commands as the test says.
class TellingServiceTest : public testing::Test {
 protected:
  TellingServiceTest() {
    gateway_.set("/satrelay/status", {{"flows", 1U}, {"age_ms", 0U}});
    observer_.catch_up();
  }
  // Sets the replies, one for each line. Further lines get the last reply.
  void answers(std::vector<std::string> all) {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(all);
    lines_.clear();
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  Request request(const std::string& path, const std::string& body) {
    return request_of("POST", "/api/v1" + path,
                      {{"authorization", "Bearer secret"}, {"content-type", "application/json"}},
                      body);
  }
  Response tell(const std::string& command, const std::string& body = "{}") {
    return service_.answer(request("/commands/" + command, body));
  }
  static std::string detail_of(const Response& response) {
    return Json::parse(response.body).value("detail", "");
  }

 private:
  static Users administrator() {
    Users users;
    users.put({.name = "ann",
               .role = Role::kAdministrator,
               .password_hash = "",
               .token_hash = hash_token("secret")});
    return users;
  }
  std::string answer(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
    return answers_.at(std::min(lines_.size(), answers_.size()) - 1);
  }
  std::filesystem::path file_of_users() {
    const auto file = folder_.path() / "users.yaml";
    administrator().save(file);
    return file;
  }

  std::mutex mutex_;
  std::vector<std::string> answers_{""};
  std::vector<std::string> lines_;

 protected:
  TemporaryFolder folder_;
  FakeGateway gateway_{folder_.path() / "s"};
  FakeSocket control_{folder_.path() / "control.sock", [this](int client) {
                        const std::string text = answer(heard_from(client));
                        say(client, text.data(), text.size());
                      }};
  GatewayLink link_{{.stats = (folder_.path() / "s").string(), .control = ""}};
  History history_{""};
  Observer observer_{link_, history_, [] {}};
  Sessions sessions_;
  UserFile users_{file_of_users()};
  Service service_{{}, link_, observer_, history_, users_, sessions_};
};

TEST_F(TellingServiceTest, WaitsForWhatComesOfAReload) {
  answers({"ok\n", "reading\n", "reading\n", "ok\n"});
  EXPECT_EQ(tell("reload").status, 200);
  EXPECT_EQ(lines(), (std::vector<std::string>{"as panel:ann reload\n", "reload result\n",
                                               "reload result\n", "reload result\n"}));
  answers({"ok\n", "reading\n", "error: gateway.yaml:3: unknown key\n"});
  const Response refused = tell("reload");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(detail_of(refused), "gateway.yaml:3: unknown key");
}

TEST_F(TellingServiceTest, DoesNotWaitForAReloadWhenItIsToEnd) {
  answers({"ok\n", "reading\n"});
  service_.stop();
  const Response response = tell("reload");
  EXPECT_EQ(response.status, 504);
  EXPECT_NE(detail_of(response).find("still reading"), std::string::npos) << response.body;
}

TEST_F(TellingServiceTest, TakesNoEndOfAGatewayForItsConsent) {
  answers({""});
  const Response response = tell("bypass", R"({"arguments": {"STATE": "on"}})");
  EXPECT_EQ(response.status, 502);
  EXPECT_NE(detail_of(response).find("may or may not"), std::string::npos) << response.body;
  answers({"ok\n", "reading\n", ""});
  EXPECT_EQ(tell("reload").status, 502);
}

// The deepest nesting that a body can have. A function that recurses as deeply needs megabytes of
// stack; how many depends on the compiler. This thread has less than any compiler needs.
TEST_F(TellingServiceTest, RefusesArgumentsHoweverDeepTheyAre) {
  const std::string deep = std::string(32'000, '[') + std::string(32'000, ']');
  const auto refuses = [&](const std::string& body) {
    EXPECT_EQ(tell("bypass", body).status, 400);
  };
  with_small_stack([&] { refuses(R"({"arguments": {"STATE": )" + deep + "}}"); });
  with_small_stack([&] { refuses(R"({"arguments": )" + deep + "}"); });
}

// The gateway makes one capture at a time, so a capture without a client would block the next one.
TEST_F(TellingServiceTest, EndsACaptureWhoseClientHasLeft) {
  const FakeSocket capture(folder_.path() / "capture.sock", [](int client) {
    say(client, "ok\n", 3);
    heard_from(client);
    ops::CaptureRecord last;
    last.way = ops::CaptureWay::kEnd;
    say(client, &last, sizeof last);
  });
  Request wish = request("/capture", R"({"port": "lan", "seconds": 30})");
  wish.has_left = [] { return true; };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(service_.answer(wish).status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace satrelay::panel::service_test
