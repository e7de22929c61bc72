#include "relay/satrelayctl/support/tech_support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "relay/client/reply.h"
#include "relay/client/stats_client.h"
#include "relay/satrelayctl/support/child_program.h"
#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::tech_support_test {
namespace {

namespace fs = std::filesystem;

class TechSupportTest : public testing::Test {
 protected:
  TechSupportTest() {
    std::ofstream(folder_.file("gateway.yaml")) << "psk: 1234\nstp: {port: 1}\n";
    options_.file = folder_.file("a.tar.gz");
    options_.configuration = folder_.file("gateway.yaml");
    options_.interval = std::chrono::milliseconds(20);
    options_.version = "9.9";
  }
  // The files of the archive, by name.
  std::map<std::string, std::string> unpacked() const {
    const int none = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(
        run_program({"/usr/bin/tar", "-xzf", options_.file.string(), "-C", folder_.path().string()},
                    none, std::chrono::seconds(20)),
        "");
    ::close(none);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "satrelay-tech-support")) {
      std::ifstream in(entry.path());
      files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return files;
  }

  TemporaryFolder folder_;
  TechSupportOptions options_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A gateway's reply. Its counter has the value `time`.
std::string answer(const std::string& command, int time) {
  const std::string path = command.substr(0, command.find(','));
  const auto reply = [&](const std::string& value) { return "{\"" + path + "\":" + value + "}"; };
  if (path == "/satrelay/counters")
    return reply("{\"lan_frames_in\":" + std::to_string(time) + "}");
  if (path == "/satrelay/ports") return reply(R"([{"name":"lan","rx_frames":7}])");
  if (path == "/satrelay/event_numbers") return reply(R"({"boot_epoch":5,"oldest":1,"latest":1})");
  if (path == "/satrelay/events") return reply(R"({"1":{"number":1,"name":"started"}})");
  if (path == "/satrelay/status") return reply(R"({"version":"8.8","flows":3})");
  return reply("{}");
}

TEST_F(TechSupportTest, HasWhatAGatewayTells) {
  std::atomic<int> time = 0;
  const std::string socket = folder_.file("socket");
  const FakeTelemetry gateway(socket, kGreeting,
                              [&](const std::string& command) { return answer(command, ++time); });
  EXPECT_EQ(tech_support(options_, [&] { return fs::path(socket); }), 0);
  const auto files = unpacked();
  const std::string& manifest = files.at("MANIFEST");
  EXPECT_EQ(files.at("configuration.yaml"), "psk: LEFT-OUT\nstp: {port: 1}\n");
  EXPECT_TRUE(has(files.at("versions.txt"), "satrelayctl  9.9\n"));
  EXPECT_TRUE(has(files.at("versions.txt"), "satrelayd    8.8, as it runs\n"));
  EXPECT_TRUE(has(files.at("versions.txt"), "DPDK 22.11.11"));
  EXPECT_TRUE(has(files.at("status.json"), "\"flows\": 3"));
  EXPECT_TRUE(has(files.at("events.json"), "\"started\""));
  for (const char* name : {"peers.json", "rules.json", "classes.json", "histograms.json",
                           "history.json", "machine.txt"}) {
    EXPECT_TRUE(files.contains(name)) << name;
  }
  EXPECT_FALSE(files.contains("flows.json")) << "who speaks with whom is not asked for";
  const Json changes = Json::parse(files.at("difference.json"));
  const auto number_in = [&](const char* name) {
    return Json::parse(files.at(name)).at("lan_frames_in").get<int>();
  };
  EXPECT_EQ(changes.at("counters").at("lan_frames_in").get<int>(),
            number_in("counters-later.json") - number_in("counters.json"));
  EXPECT_GE(changes.at("seconds").get<double>(), 0.02);
  EXPECT_TRUE(has(manifest, "  capture-lan.pcapng  ")) << manifest;
  for (const auto& [name, text] : files) {
    EXPECT_TRUE(name == "MANIFEST" || has(manifest, "  " + name + "  ")) << name << manifest;
  }
}

// This process serves the socket, so its stderr is the gateway's log.
TEST_F(TechSupportTest, HasTheLogFromWhereTheGatewayWritesIt) {
  const std::string log = folder_.file("gateway.log");
  const std::string socket = folder_.file("socket");
  const FakeTelemetry gateway(socket, kGreeting,
                              [](const std::string& command) { return answer(command, 1); });
  options_.capture.packets = 0;
  const int ours = ::dup(STDERR_FILENO);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_EQ(::dup2(file, STDERR_FILENO), STDERR_FILENO);
  std::ofstream(log, std::ios::app) << "peer north is alive\n";
  const int status = tech_support(options_, [&] { return fs::path(socket); });
  ::dup2(ours, STDERR_FILENO);
  ::close(ours);
  ::close(file);
  EXPECT_EQ(status, 0);
  const auto files = unpacked();
  ASSERT_TRUE(files.contains("log.txt")) << files.at("MANIFEST");
  EXPECT_TRUE(has(files.at("log.txt"), "peer north is alive\n"));
  EXPECT_TRUE(has(files.at("MANIFEST"), log + ", the place that satrelayd logs to"));
  EXPECT_TRUE(has(files.at("MANIFEST"), "capture-wan.pcapng  left out by --no-capture"));
}

TEST_F(TechSupportTest, IsMadeWithoutAGateway) {
  EXPECT_EQ(tech_support(options_, []() -> fs::path { throw StatsError("no gateway here"); }), 0);
  const auto files = unpacked();
  EXPECT_TRUE(has(files.at("MANIFEST"), "all listings of the gateway  no gateway here"));
  EXPECT_TRUE(files.contains("machine.txt"));
  EXPECT_FALSE(files.contains("counters.json"));
  struct stat status {};
  ASSERT_EQ(::stat(options_.file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(TechSupportTest, SaysThatThereIsNoConfiguration) {
  options_.configuration = folder_.file("nothing.yaml");
  EXPECT_EQ(tech_support(options_, []() -> fs::path { throw StatsError("none"); }), 0);
  EXPECT_TRUE(has(unpacked().at("MANIFEST"), "nothing.yaml: No such file or directory; --config"));
}

TEST_F(TechSupportTest, LeavesAnArchiveThatIsThere) {
  std::ofstream(options_.file) << "before";
  const auto none = []() -> fs::path { throw StatsError("none"); };
  EXPECT_THROW(tech_support(options_, none), std::runtime_error);
  EXPECT_EQ(fs::file_size(options_.file), 6U);
  options_.existing = Existing::kReplace;
  EXPECT_EQ(tech_support(options_, none), 0);
  EXPECT_GT(fs::file_size(options_.file), 6U);
}

}  // namespace
}  // namespace satrelay::ctl::tech_support_test
