// The control socket and a real client in one process.
#include "relay/ops/control/control_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "relay/ops/control/control_client.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ops::control_server_test {
namespace {

class ControlSocket : public testing::Test {
 protected:
  ControlServer::Wake no_wake() {
    return {[this](int) { ++watched_; }, [this](int) { --watched_; }};
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_.file("control.sock");
  int watched_ = 0;
};

TEST_F(ControlSocket, AnswersALineAndBelongsToItsUserAlone) {
  ControlServer server(path_, no_wake(), [](std::string_view line, const Caller& caller) {
    return ControlServer::Answer{
        .text = std::to_string(caller.user) + " heard " + std::string(line) + "\n", .close = true};
  });
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  std::atomic<bool> answered = false;
  std::string answer;
  std::thread client([&] {
    answer = send_control_command(path_, "capacity sat send 1Mbit");
    answered = true;
  });
  for (Instant now; !answered; now += Duration::milliseconds(2)) server.service(now);
  client.join();
  EXPECT_EQ(answer, std::to_string(::getuid()) + " heard capacity sat send 1Mbit\n");
}

TEST_F(ControlSocket, OneProcessServesAPathAndCleansUp) {
  {
    ControlServer server(path_, no_wake(),
                         [](std::string_view, const Caller&) { return ControlServer::Answer{}; });
    EXPECT_EQ(watched_, 1);
    EXPECT_THROW(
        ControlServer(path_, no_wake(),
                      [](std::string_view, const Caller&) { return ControlServer::Answer{}; }),
        std::runtime_error);
  }
  EXPECT_EQ(watched_, 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THROW(send_control_command(path_, "help"), std::runtime_error);
}

}  // namespace
}  // namespace satrelay::ops::control_server_test
