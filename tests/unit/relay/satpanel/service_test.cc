#include "relay/satpanel/service.h"

#include <gtest/gtest.h>

namespace satrelay::panel::service_test {
namespace {

std::string name_for(const std::string& host) {
  return cookie_name({.method = "GET",
                      .path = "/",
                      .query = {},
                      .headers = {{"host", host}},
                      .cookies = {},
                      .body = {},
                      .remote = {}});
}

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

}  // namespace
}  // namespace satrelay::panel::service_test
