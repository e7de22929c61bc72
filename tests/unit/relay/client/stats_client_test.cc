#include "relay/client/stats_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::stats_client_test {
namespace {

using namespace std::chrono_literals;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StatsError& e) {
    return e.what();
  }
  return "no error";
}

class StatsClientTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "s";
};

TEST_F(StatsClientTest, ReturnsTheValueOfTheReply) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string& command) {
    EXPECT_EQ(command, "/satrelay/status");
    return R"({"/satrelay/status": {"flows": 7}})";
  });
  StatsClient client(socket_, 2s);
  EXPECT_EQ(client.query("/satrelay/status").at("flows"), 7);
  EXPECT_EQ(client.query("/satrelay/status").at("flows"), 7);  // over the same connection
}

TEST_F(StatsClientTest, CollectsEveryPageOfAList) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string& command) {
    if (command == "/satrelay/flows,0,1000")
      return R"({"/satrelay/flows": {"0": 1, "1": 2, "2": 3}})";
    if (command == "/satrelay/flows,3,1000") return R"({"/satrelay/flows": {"3": 4}})";
    if (command == "/satrelay/flows,4,1000") return R"({"/satrelay/flows": {}})";
    return "?";
  });
  StatsClient client(socket_, 2s);
  EXPECT_EQ(client.query_all("/satrelay/flows").dump(), "[1,2,3,4]");
}

// An older gateway wrote them as numbers.
TEST_F(StatsClientTest, ReturnsIdentifiersAsText) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string& command) {
    if (command == "/status") return R"({"/status": {"boot_epoch": 1764082060000000001}})";
    if (command == "/new") return R"({"/new": {"boot_epoch": "1764082060000000001", "id": null}})";
    if (command == "/flows,0,1000") return R"({"/flows": {"0": {"id": 18446744073709551615}}})";
    return R"({"/flows": {}})";
  });
  StatsClient client(socket_, 2s);
  EXPECT_EQ(client.query("/status").dump(), R"({"boot_epoch":"1764082060000000001"})");
  EXPECT_EQ(client.query("/new").dump(), R"({"boot_epoch":"1764082060000000001","id":null})");
  EXPECT_EQ(client.query_all("/flows").dump(), R"([{"id":"18446744073709551615"}])");
}

TEST_F(StatsClientTest, SaysThatNoGatewayRuns) {
  EXPECT_EQ(error_of([&] { StatsClient client(socket_, 2s); }),
            "no gateway runs at " + socket_.string() + "; is satrelayd started?");
  ::close(listen_at(socket_));  // a killed gateway leaves it like that
  EXPECT_EQ(error_of([&] { StatsClient client(socket_, 2s); }),
            "no gateway runs at " + socket_.string() + "; is satrelayd started?");
}

TEST_F(StatsClientTest, GivesUpOnASilentServer) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string&) { return ""; });
  StatsClient client(socket_, 100ms);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { client.query("/satrelay/status"); }),
            "no answer from " + socket_.string() + "; the gateway is overloaded or stuck");
  EXPECT_GE(std::chrono::steady_clock::now() - before, 90ms);
}

TEST_F(StatsClientTest, GivesUpSoonAfterItIsStopped) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string&) { return ""; });
  std::atomic<bool> stopped = false;
  StatsClient client(socket_, 30s, [&] { return stopped.load(); });
  std::thread stopper([&] {
    std::this_thread::sleep_for(120ms);
    stopped = true;
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THROW(client.query("/satrelay/status"), StatsError);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  stopper.join();
}

TEST_F(StatsClientTest, WaitsAsLongAsItShouldIfItIsNotStopped) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string& command) {
    std::this_thread::sleep_for(3 * StatsClient::kLook);
    return command == "/late" ? R"({"/late": 1})" : "";
  });
  StatsClient client(socket_, 30s, [] { return false; });
  EXPECT_EQ(client.query("/late"), 1);
}

TEST_F(StatsClientTest, GivesUpOnAServerThatNeverGreets) {
  const FakeTelemetry server(socket_, "", [](const std::string&) { return ""; });
  EXPECT_EQ(error_of([&] { StatsClient client(socket_, 100ms); }),
            "no answer from " + socket_.string() + "; the gateway is overloaded or stuck");
}

TEST_F(StatsClientTest, NoticesAServerThatIsNoGateway) {
  const FakeTelemetry server(socket_, kGreeting, [](const std::string& command) {
    return command == "/null" ? R"({"/null": null})" : R"({"/other": 1})";
  });
  StatsClient client(socket_, 2s);
  for (const char* command : {"/null", "/satrelay/status"}) {
    EXPECT_EQ(error_of([&] { client.query(command); }),
              socket_.string() + " gives no answer to " + command +
                  "; the gateway is stuck, still starting, or not a satrelayd");
  }
}

TEST_F(StatsClientTest, SurvivesRubbish) {
  for (const std::string greeting :
       {"hello", "[]", "{}", R"({"max_output_len": "many"})", R"({"max_output_len": -1})"}) {
    const std::filesystem::path socket = folder_.path() / "rubbish";
    std::filesystem::remove(socket);
    const FakeTelemetry server(socket, greeting, [](const std::string&) { return ""; });
    EXPECT_TRUE(error_of([&] {
                  StatsClient client(socket, 2s);
                }).starts_with(socket.string() + " does not speak DPDK telemetry"))
        << greeting;
  }
  const FakeTelemetry server(socket_, R"({"max_output_len": 100})", [](const std::string& command) {
    return command == "/long" ? std::string(101, '1') : "{";
  });
  StatsClient client(socket_, 2s);
  EXPECT_EQ(error_of([&] { client.query("/x"); }),
            socket_.string() + " does not speak DPDK telemetry");
  EXPECT_EQ(error_of([&] { client.query("/long"); }),
            socket_.string() + " sent a longer answer than it announced");
}

TEST_F(StatsClientTest, RefusesAPathThatFitsNoSocket) {
  EXPECT_THROW(StatsClient("", 1s), StatsError);
  EXPECT_THROW(StatsClient("/" + std::string(200, 'x'), 1s), StatsError);
}

}  // namespace
}  // namespace satrelay::ctl::stats_client_test
