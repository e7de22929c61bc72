#include "relay/client/capture_session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "relay/ops/control/control_client.h"
#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::capture_session_test {
namespace {

// A gateway that begins a capture and then hangs.
class StuckGateway {
 public:
  explicit StuckGateway(const std::string& path) : path_(path) {
    const sockaddr_un address = ops::control_address(path);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_, 1);
    thread_ = std::thread([this] {
      connection_ = ::accept(listener_, nullptr, nullptr);
      ::send(connection_, "ok\n", 3, MSG_NOSIGNAL);
    });
  }
  ~StuckGateway() {
    thread_.join();
    ::close(connection_);
    ::close(listener_);
  }

 private:
  std::string path_;
  int listener_ = -1;
  int connection_ = -1;
  std::thread thread_;
};

TEST(CaptureSession, EndsThoughTheGatewayDoesNot) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "c").string();
  const StuckGateway gateway(path);
  CaptureRequested wish;
  wish.port = "lan";
  CaptureSession session(path, wish);
  std::ostringstream file;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(session.write_to(file, [](std::uint64_t) { return false; }), std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// A gateway may hang for so long that its queue of connections is full.
TEST(CaptureSession, GivesUpOnAGatewayThatTakesNoConnection) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "c").string();
  const sockaddr_un address = ops::control_address(path);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::listen(listener, 0);
  std::vector<int> waiting;
  do {
    waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  } while (ops::connect_control(waiting.back(), address));
  auto attempt = std::async(std::launch::async, [&]() -> std::string {
    CaptureRequested wish;
    wish.port = "lan";
    try {
      const CaptureSession session(path, wish);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  });
  EXPECT_EQ(attempt.wait_for(std::chrono::seconds(15)), std::future_status::ready);
  ::close(listener);  // clients that still wait are refused
  EXPECT_NE(attempt.get().find("timed out"), std::string::npos);
  for (const int descriptor : waiting) ::close(descriptor);
}

TEST(CaptureSession, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  CaptureRequested wish;
  wish.port = "lan";
  wish.decrypted = true;
  EXPECT_THROW(CaptureSession(folder.path() / "c", wish), std::runtime_error);
  wish.decrypted = false;
  EXPECT_THROW(CaptureSession(folder.path() / "c", wish), std::runtime_error);  // no gateway
}

}  // namespace
}  // namespace satrelay::ctl::capture_session_test
