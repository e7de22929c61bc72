#include "relay/ops/control/unix_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "relay/ops/control/control_client.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ops::unix_listener_test {
namespace {

class Listener : public testing::Test {
 protected:
  std::unique_ptr<UnixListener> listen() const {
    return std::make_unique<UnixListener>(path_, 8, SocketAccess{});
  }
  bool is_served() const {
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const bool is_connected = connect_control(client, control_address(path_));
    ::close(client);
    return is_connected;
  }
  // Leaves the file of a process that was killed.
  void leave_stale() const {
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = control_address(path_);
    ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(dead);
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_.file("test.sock");
};

// The message of a listener that cannot be made.
std::string refusal(const std::string& path, const SocketAccess& access = {}) {
  try {
    const UnixListener listener(path, 8, access);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// Without a lock, some of these threads remove the new socket of another thread.
TEST_F(Listener, OfManyThatFindAStaleFileAtOnceOneServes) {
  for (int round = 0; round < 5; ++round) {
    leave_stale();
    constexpr int kThreads = 8;
    std::barrier begin(kThreads);
    std::vector<std::unique_ptr<UnixListener>> made(kThreads);
    std::vector<std::thread> threads;
    threads.reserve(made.size());
    for (auto& each : made) {
      threads.emplace_back([&] {
        begin.arrive_and_wait();
        try {
          each = listen();
        } catch (const std::runtime_error&) {  // another thread was first
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::ranges::count_if(made, [](const auto& each) { return each != nullptr; }), 1);
    EXPECT_TRUE(is_served());
    made.clear();
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(Listener, LeavesTheSocketThatHasTakenThePlaceOfItsOwn) {
  auto first = listen();
  std::filesystem::remove(path_);
  const auto second = listen();
  first.reset();
  EXPECT_TRUE(is_served());
}

TEST_F(Listener, NamesThePathAndTheFault) {
  const auto first = listen();
  EXPECT_EQ(refusal(path_),
            "socket " + path_ + ": another process serves it: Address already in use");
  const std::string nowhere = folder_.file("none/test.sock");
  EXPECT_EQ(refusal(nowhere), "socket " + nowhere + ": bind: No such file or directory");
  const std::string longest = folder_.file(std::string(108, 'x'));
  EXPECT_EQ(refusal(longest), "socket " + longest + ": the path must have 1 to 107 characters");
}

// Any user may lock a folder that this user can read.
TEST_F(Listener, GoesOnIfAnotherProcessKeepsTheFolderLocked) {
  const int folder = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(folder, LOCK_EX), 0);
  EXPECT_EQ(refusal(path_), "");
  ::close(folder);
}

// Root may give a file to any group.
TEST_F(Listener, SaysThatItsUserMustBelongToTheGroup) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may use any group";
  const SocketAccess access{.mode = 0660, .group = 0};
  EXPECT_NE(refusal(path_, access).find("must be a member of the group"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace satrelay::ops::unix_listener_test
