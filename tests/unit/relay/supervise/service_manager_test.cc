#include "relay/supervise/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace satrelay::supervise::service_manager_test {
namespace {

// The end of systemd, with an abstract name.
class Manager {
 public:
  Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name().data() + 1, name().size() - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name().size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
    ::setenv("NOTIFY_SOCKET", name().c_str(), 1);
  }
  ~Manager() { ::close(socket_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  std::string heard() const {
    std::array<char, 256> text{};
    const ssize_t size = ::recv(socket_, text.data(), text.size(), 0);
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
  }

 private:
  static std::string name() { return "@satrelay-test-" + std::to_string(::getpid()); }

  int socket_;
};

TEST(ServiceManager, TellsTheStateAndKeepsTheSocketFromTheGateway) {
  const Manager manager;
  ::setenv("WATCHDOG_USEC", "10000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const ServiceManager service;
  EXPECT_TRUE(service.is_there());
  EXPECT_EQ(service.feeding_interval(), Duration::seconds(5));
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
  service.ready();
  EXPECT_EQ(manager.heard(), "READY=1");
  service.feed();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
  service.tell("the gateway forwards");
  EXPECT_EQ(manager.heard(), "STATUS=the gateway forwards");
  service.stopping();
  EXPECT_EQ(manager.heard(), "STOPPING=1");
}

TEST(ServiceManager, WithoutSystemdNothingHappens) {
  ::unsetenv("NOTIFY_SOCKET");
  ::setenv("WATCHDOG_USEC", "10000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  const ServiceManager service;
  EXPECT_FALSE(service.is_there());
  EXPECT_FALSE(service.feeding_interval()) << "the variable is for another process";
  service.ready();
}

}  // namespace
}  // namespace satrelay::supervise::service_manager_test
