#include "relay/metrics/readings.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "relay/client/stats_client.h"
#include "tests/unit/relay/client/fake_telemetry.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::metrics::readings_test {
namespace {

using namespace std::chrono_literals;
using ctl::FakeTelemetry;
using ctl::kGreeting;

// The answer to "/satrelay/peers,0,1000" has one entry, the next page has none.
std::string answer_to(const std::string& command) {
  const std::string path = command.substr(0, command.find(','));
  const bool is_listing = path != command;
  const bool is_first = command.find(",0,") != std::string::npos;
  return "{\"" + path + "\":" +
         (!is_listing ? R"({"flows":3})"
          : is_first  ? R"({"0":{"name":"it"}})"
                      : "{}") +
         "}";
}

class ReadGateway : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "socket";
};

TEST_F(ReadGateway, HasWhatEachCommandAnswers) {
  const FakeTelemetry gateway(socket_, kGreeting, answer_to);
  const Readings readings = read_gateway(socket_, 2s);
  EXPECT_TRUE(readings.up);
  EXPECT_EQ(readings.error, "");
  for (const auto* object :
       {&readings.status, &readings.ports, &readings.counters, &readings.records}) {
    EXPECT_EQ(*object, nlohmann::ordered_json::parse(R"({"flows":3})"));
  }
  for (const auto* listing : {&readings.peers, &readings.rules, &readings.classes}) {
    EXPECT_EQ(*listing, nlohmann::ordered_json::parse(R"([{"name":"it"}])"));
  }
}

TEST_F(ReadGateway, KeepsWhatAStuckWorkerStillTells) {
  std::set<std::string> asked;
  {
    const FakeTelemetry gateway(socket_, kGreeting, [&](const std::string& command) {
      const std::string path = command.substr(0, command.find(','));
      asked.insert(path);
      return path == "/satrelay/rules" ? R"({"/satrelay/rules":null})" : answer_to(command);
    });
    const Readings readings = read_gateway(socket_, 2s);
    EXPECT_TRUE(readings.up);
    EXPECT_EQ(readings.peers.size(), 1U);
    EXPECT_TRUE(readings.rules.is_null());
    EXPECT_TRUE(readings.classes.is_null());
    EXPECT_NE(readings.error.find("/satrelay/rules"), std::string::npos) << readings.error;
  }
  EXPECT_FALSE(asked.contains("/satrelay/classes")) << "it takes another second to say nothing";
}

TEST_F(ReadGateway, OfNobodyIsNotUp) {
  const Readings readings = read_gateway(socket_, 2s);
  EXPECT_FALSE(readings.up);
  EXPECT_NE(readings.error.find("no gateway runs"), std::string::npos) << readings.error;
  EXPECT_TRUE(readings.status.is_null());
}

TEST_F(ReadGateway, OfOneThatIsSilentIsNotUp) {
  const FakeTelemetry gateway(socket_, kGreeting, [](const std::string&) { return ""; });
  const Readings readings = read_gateway(socket_, 100ms);
  EXPECT_FALSE(readings.up);
  EXPECT_NE(readings.error.find("overloaded or stuck"), std::string::npos) << readings.error;
}

}  // namespace
}  // namespace satrelay::metrics::readings_test
