#include "relay/satpanel/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "relay/satpanel/users.h"
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

// "" if it is not there.
std::string header_of(const Response& response, const std::string& name) {
  const auto found =
      std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? "" : found->second;
}

// A panel of one administrator, whose gateway is not there.
class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    Users users;
    users.put({.name = "ann",
               .role = Role::kAdministrator,
               .password_hash = hash_password("pass"),
               .token_hash = ""});
    users.save(folder_.path() / "users.yaml");
    file_ = std::make_unique<UserFile>(folder_.path() / "users.yaml");
    start({});
  }
  void start(ServiceOptions options) {
    service_ = std::make_unique<Service>(std::move(options), link_, observer_, history_, *file_,
                                         sessions_);
  }
  Response log_in() {
    return service_->answer(
        request_of("POST", "/api/v1/session",
                   {{"host", "localhost:8440"}, {"content-type", "application/json"}},
                   R"({"name": "ann", "password": "pass"})"));
  }

  TemporaryFolder folder_;
  GatewayLink link_{{.stats = "/nowhere/dpdk_telemetry.v2", .control = ""}};
  History history_{""};
  Observer observer_{link_, history_, [] {}};
  Sessions sessions_;
  std::unique_ptr<UserFile> file_;
  std::unique_ptr<Service> service_;
};

// Two panels of one host, as ssh makes them, must not throw each other's users out.
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
  EXPECT_EQ(cookie.find("Secure"), std::string::npos) << "of a panel without encryption";
  EXPECT_EQ(header_of(response, "Strict-Transport-Security"), "");
}

TEST_F(ServiceTest, OfAnEncryptedPanelTheCookieNeverGoesPlain) {
  start({.version = "", .is_tls = true, .hosts = {}});
  const Response response = log_in();
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

// A page of the panel, an answer and a refusal.
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

}  // namespace
}  // namespace satrelay::panel::service_test
