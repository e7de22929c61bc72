#include "relay/satpanel/webhooks/webhook_sender.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace satrelay::panel::webhook_sender_test {
namespace {

using enum Answer::Kind;
using namespace std::chrono_literals;

TEST(WebhookSender, KnowsWhichStatusMayPass) {
  for (const long status : {200L, 202L, 204L}) EXPECT_EQ(answer_of(status, 0s).kind, kTaken);
  for (const long status : {500L, 502L, 503L, 504L, 408L, 425L, 429L}) {
    EXPECT_EQ(answer_of(status, 0s).kind, kFailed) << status;
    EXPECT_FALSE(answer_of(status, 0s).retry_after) << status;
  }
  for (const long status : {301L, 302L, 307L, 308L, 400L, 401L, 404L, 410L, 413L}) {
    EXPECT_EQ(answer_of(status, 5s).kind, kRefused) << status;
  }
  EXPECT_EQ(answer_of(503, 30s).retry_after, 30s);
  EXPECT_EQ(answer_of(503, 30s).reason, "HTTP 503");
}

// Accepts one connection and sends `answer`, whatever the request is.
class Receiver {
 public:
  explicit Receiver(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 1) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  void serve() const {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    char bytes[4096];
    static_cast<void>(::recv(client, bytes, sizeof bytes, 0));
    static_cast<void>(::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL));
    if (answer_.empty()) {
      while (::recv(client, bytes, sizeof bytes, 0) > 0) {
      }
    }
    ::close(client);
  }

  std::string answer_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::thread thread_;
};

Answer post_to(const std::string& url, std::chrono::milliseconds deadline = 5s) {
  const std::atomic<bool> is_over = false;
  return WebhookSender(url, "", deadline).post({"X-Test: 1"}, "{}", is_over);
}

TEST(WebhookSender, TellsWhatTheReceiverSays) {
  const Receiver busy(
      "HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const Answer answer = post_to(busy.url());
  EXPECT_EQ(answer.kind, kFailed);
  EXPECT_EQ(answer.retry_after, 7s);
}

TEST(WebhookSender, FollowsNobodyElsewhere) {
  const Receiver elsewhere("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const Receiver pointer("HTTP/1.1 307 Over There\r\nLocation: " + elsewhere.url() +
                         "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const Answer answer = post_to(pointer.url());
  EXPECT_EQ(answer.kind, kRefused);
  EXPECT_EQ(answer.reason, "HTTP 307");
}

TEST(WebhookSender, WaitsNoLongerThanItsDeadline) {
  const Receiver silent("");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(post_to(silent.url(), 200ms).kind, kFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST(WebhookSender, EndsWhenThePanelDoes) {
  const Receiver silent("");
  const std::atomic<bool> is_over = true;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(WebhookSender(silent.url(), "", 30s).post({}, "{}", is_over).kind, kFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST(WebhookSender, SpeaksNothingButHttp) {
  EXPECT_NE(post_to("file:///etc/passwd").reason.find("\"file\" not supported"), std::string::npos);
  EXPECT_EQ(post_to("http://127.0.0.1:1/").kind, kFailed);
}

}  // namespace
}  // namespace satrelay::panel::webhook_sender_test
