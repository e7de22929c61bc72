#include "relay/satpanel/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "relay/ops/control/control_client.h"
#include "relay/ops/control/socket_access.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::panel::http_server_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A client that can send any bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    static_cast<void>(
        ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }
  explicit RawClient(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    ops::connect_control(descriptor_, ops::control_address(path));
  }
  RawClient(RawClient&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  void say(std::string_view text) const {
    static_cast<void>(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  // Reads until `text` has arrived, the connection has ended, or the time is up.
  std::string hear(std::string_view text, std::chrono::milliseconds patience = 10s) {
    const auto deadline = Clock::now() + patience;
    while (heard_.find(text) == std::string::npos && !is_over_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      pollfd wait{descriptor_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
      std::array<char, 4096> part;
      const ssize_t count = ::recv(descriptor_, part.data(), part.size(), 0);
      is_over_ = count <= 0;
      if (count > 0) heard_.append(part.data(), static_cast<std::size_t>(count));
    }
    return heard_;
  }
  bool is_over() const { return is_over_; }

 private:
  int descriptor_;
  std::string heard_;
  bool is_over_ = false;
};

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string get(std::uint16_t port, const std::string& request = kGet) {
  RawClient client(port);
  client.say(request);
  return client.hear("\r\n\r\n");
}

Response echo(const Request& request) {
  return {.type = "text/plain",
          .body = request.method + " " + request.path + " " + request.parameter("a") + " " +
                  request.header("x-mark") + " " + request.body + " from " + request.remote +
                  (request.is_https ? " encrypted" : " plain")};
}

ServerOptions options(ServerLimits limits = {}) { return {.limits = limits}; }

TEST(HttpServer, HandsOverWhatWasAsked) {
  HttpServer server(options(), echo);
  RawClient client(server.port());
  client.say(
      "POST /a%20b?a=1%262 HTTP/1.1\r\nHost: x\r\nX-Mark: m\r\nContent-Length: 4\r\n\r\nbody");
  const std::string heard = client.hear("127.0.0.1");
  EXPECT_NE(heard.find("200 OK"), std::string::npos);
  EXPECT_NE(heard.find("POST /a b 1&2 m body from 127.0.0.1"), std::string::npos) << heard;
}

TEST(HttpServer, RefusesABodyThatIsTooLongAndGoesOn) {
  HttpServer server(options({.body = 100}), echo);
  RawClient client(server.port());
  client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n" + std::string(5000, 'x'));
  EXPECT_NE(client.hear("problem+json").find(" 413 "), std::string::npos);
  EXPECT_NE(get(server.port()).find("200 OK"), std::string::npos);
  EXPECT_EQ(server.counters().refused_long, 1U);
}

TEST(HttpServer, SaysThatThereIsNoSuchAddress) {
  EXPECT_THROW(HttpServer({.address = "here"}, echo), std::runtime_error);
  EXPECT_THROW(HttpServer({.address = "192.0.2.1"}, echo), std::runtime_error);
  HttpServer first(options(), echo);
  EXPECT_THROW(HttpServer({.port = first.port()}, echo), std::runtime_error);
}

TEST(HttpServer, AnswersWhatItsHandlerThrows) {
  HttpServer server(options(), [](const Request&) -> Response { throw std::runtime_error("why"); });
  RawClient client(server.port());
  client.say(kGet);
  EXPECT_NE(client.hear("why").find(" 500 "), std::string::npos);
}

TEST(HttpServer, CutsWhoTakesTooLongForARequest) {
  HttpServer server(options({.request = 1s}), echo);
  RawClient silent(server.port());
  RawClient slow(server.port());
  slow.say("GET / HTTP/1.1\r\nHost: ");
  const auto begin = Clock::now();
  while (!slow.is_over() && Clock::now() - begin < 10s) {
    slow.say("x");  // never idle
    slow.hear("HTTP", 50ms);
  }
  EXPECT_TRUE(slow.is_over());
  silent.hear("HTTP");
  EXPECT_TRUE(silent.is_over());
  // The server counts a connection after it has closed it.
  while (server.counters().connections_cut < 2 && Clock::now() - begin < 20s) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(server.counters().connections_cut, 2U);
  EXPECT_NE(get(server.port()).find("200 OK"), std::string::npos);
}

TEST(HttpServer, ServesOthersThroughAThousandSlowClients) {
  HttpServer server(options({.connections = 512, .request = 60s, .crowded = 1s}), echo);
  std::vector<RawClient> slow;
  for (int i = 0; i < 1000; ++i) {
    slow.emplace_back(server.port());
    slow.back().say("GET / HTTP/1.1\r\n");
  }
  // This client waits behind them in the queue of the listening socket.
  RawClient client(server.port());
  client.say(kGet);
  EXPECT_NE(client.hear("\r\n\r\n", 15s).find("200 OK"), std::string::npos);
}

// Any program of this machine may connect to the port, and write any header.
TEST(HttpServer, BelievesNoHeaderAboutTheClientAtAPort) {
  HttpServer server(options(), echo);
  const std::string heard = get(server.port(),
                                "GET / HTTP/1.1\r\nHost: x\r\nX-Real-IP: 192.0.2.7\r\n"
                                "X-Forwarded-Proto: https\r\n\r\n");
  EXPECT_NE(heard.find("from 127.0.0.1 plain"), std::string::npos) << heard;
}

// The server at a UNIX socket, and its clients.
class SocketServer : public testing::Test {
 protected:
  ServerOptions at_socket() const { return {.socket = path_, .access = ops::resolve("", 0660)}; }
  mode_t mode() const {
    struct stat status {};
    return ::lstat(path_.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  // Returns the answer up to `end`.
  std::string ask(const std::string& headers, const std::string& end = "plain") const {
    RawClient client(path_);
    client.say("GET / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    client.hear("\r\n\r\n");
    return client.hear(end);
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_.file("panel.sock");
};

TEST_F(SocketServer, BelievesTheWebServerAboutTheClient) {
  HttpServer server(at_socket(), echo);
  EXPECT_EQ(server.port(), 0);
  EXPECT_NE(ask("X-Real-IP: 2001:db8::7\r\nX-Forwarded-Proto: https\r\n", "encrypted")
                .find("from 2001:db8::7 encrypted"),
            std::string::npos);
  EXPECT_NE(ask("x-real-ip: 192.0.2.7\r\nX-Forwarded-Proto: http\r\n").find("from 192.0.2.7 plain"),
            std::string::npos);
  EXPECT_NE(ask("").find("from 127.0.0.1 plain"), std::string::npos);
  EXPECT_NE(ask("X-Forwarded-For: 192.0.2.7\r\n").find("from 127.0.0.1 plain"), std::string::npos);
}

TEST_F(SocketServer, RefusesAClientThatHasTwoAddressesOrNone) {
  HttpServer server(at_socket(), echo);
  for (const char* wrong :
       {"X-Real-IP: 192.0.2.7\r\nX-Real-IP: 192.0.2.8\r\n",
        "X-Real-IP: 192.0.2.7\r\nx-real-ip: 192.0.2.7\r\n", "X-Real-IP: 192.0.2.7, 192.0.2.8\r\n",
        "X-Real-IP: here\r\n", "X-Real-IP:\r\n", "X-Forwarded-Proto: ftp\r\n",
        "X-Forwarded-Proto: https\r\nX-Forwarded-Proto: https\r\n"}) {
    const std::string heard = ask(wrong, "}");
    EXPECT_NE(heard.find(" 400 "), std::string::npos) << wrong << heard;
    EXPECT_EQ(heard.find("from"), std::string::npos) << wrong;
  }
}

TEST_F(SocketServer, HasTheModeOfItsAccessWhateverTheUmask) {
  for (const mode_t mask : {0U, 0777U}) {
    const mode_t before = ::umask(mask);
    const HttpServer server(at_socket(), echo);
    ::umask(before);
    EXPECT_EQ(mode(), 0660U) << mask;
  }
  EXPECT_EQ(mode(), 0U) << "the file is gone with the server";
}

TEST_F(SocketServer, TakesThePlaceOfADeadServerOnly) {
  // A killed server leaves its file.
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = ops::control_address(path_);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(dead, 1), 0);
  EXPECT_THROW(HttpServer(at_socket(), echo), std::runtime_error) << "it still lives";
  ::close(dead);
  {
    HttpServer server(at_socket(), echo);
    EXPECT_THROW(HttpServer(at_socket(), echo), std::runtime_error);
    EXPECT_NE(ask("").find("200 OK"), std::string::npos) << "the first server goes on";
  }
  std::ofstream(path_) << "a file of the operator";
  EXPECT_THROW(HttpServer(at_socket(), echo), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_regular_file(path_));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(folder_.file("elsewhere"), path_);
  EXPECT_THROW(HttpServer(at_socket(), echo), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("elsewhere")));
}

TEST_F(SocketServer, RefusesAPathThatCannotBeASocket) {
  EXPECT_THROW(HttpServer({.socket = folder_.file(std::string(108, 'x'))}, echo),
               std::runtime_error);
  EXPECT_THROW(HttpServer({.socket = folder_.file("no/folder")}, echo), std::runtime_error);
}

TEST_F(SocketServer, TellsThatTheClientHasLeft) {
  std::promise<bool> was_there;
  std::promise<bool> left;
  HttpServer server(at_socket(), [&](const Request& request) {
    was_there.set_value(!request.has_left());
    const auto begin = Clock::now();
    while (!request.has_left() && Clock::now() - begin < 10s) std::this_thread::sleep_for(10ms);
    left.set_value(request.has_left());
    return Response{};
  });
  auto seen = was_there.get_future();
  {
    RawClient client(path_);
    client.say(kGet);
    ASSERT_EQ(seen.wait_for(10s), std::future_status::ready);
    EXPECT_TRUE(seen.get());
  }
  auto gone = left.get_future();
  ASSERT_EQ(gone.wait_for(15s), std::future_status::ready);
  EXPECT_TRUE(gone.get());
}

TEST(HttpServer, RefusesRequestsBeyondThoseThatMayWait) {
  std::mutex gate;
  std::unique_lock closed(gate);
  std::atomic<bool> is_busy = false;
  HttpServer server(options({.waiting = 2, .threads = 1}), [&](const Request&) {
    is_busy = true;
    const std::lock_guard lock(gate);
    return Response{.body = "done"};
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(server.port());
    clients.back().say(kGet);
    while (!is_busy) std::this_thread::sleep_for(1ms);
  }
  const auto begin = Clock::now();
  while (server.counters().refused_busy < 3 && Clock::now() - begin < 10s) {
    std::this_thread::sleep_for(10ms);
  }
  closed.unlock();
  int served = 0;
  int refused = 0;
  for (RawClient& client : clients) {
    const std::string heard = client.hear("\r\n\r\n");
    served += heard.find(" 200 ") != std::string::npos ? 1 : 0;
    refused += heard.find(" 503 ") != std::string::npos ? 1 : 0;
  }
  // One request is being answered, and two wait.
  EXPECT_EQ(served, 3);
  EXPECT_EQ(refused, 3);
}

TEST(HttpServer, TellsWhoeverAnswersThatTheClientHasLeft) {
  std::atomic<bool> was_there = false;
  std::promise<bool> left;
  HttpServer server(options(), [&](const Request& request) {
    was_there = !request.has_left();
    const auto begin = Clock::now();
    while (!request.has_left() && Clock::now() - begin < 10s) std::this_thread::sleep_for(10ms);
    left.set_value(request.has_left());
    return Response{};
  });
  {
    RawClient client(server.port());
    client.say(kGet);
    const auto begin = Clock::now();
    while (!was_there && Clock::now() - begin < 10s) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(was_there);
  }
  auto seen = left.get_future();
  ASSERT_EQ(seen.wait_for(15s), std::future_status::ready);
  EXPECT_TRUE(seen.get());
}

// A reply of 500 KB: no socket takes it whole.
TEST(HttpServer, KeepsOnlySoMuchForClientsThatDoNotRead) {
  HttpServer server(options({.answer = 2s, .unread = 2'000'000}), [](const Request& request) {
    return Response{.body = std::string(request.path == "/large" ? 500'000 : 1'000, 'x')};
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(server.port());
    for (int j = 0; j < 20; ++j) clients.back().say("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  const auto begin = Clock::now();
  while (server.counters().refused_busy == 0 && Clock::now() - begin < 10s) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_GT(server.counters().refused_busy, 0U);
  EXPECT_NE(get(server.port()).find("200 OK"), std::string::npos) << "a small answer";
  // The server cuts these clients off. Then there is room again.
  std::string heard;
  while (heard.find("200 OK") == std::string::npos && Clock::now() - begin < 40s) {
    heard = get(server.port(), "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  EXPECT_NE(heard.find("200 OK"), std::string::npos);
}

class CountingStream : public Stream {
 public:
  explicit CountingStream(std::atomic<int>& number) : number_(number) {}
  std::optional<std::string> poll(std::size_t) override {
    if (number_ < 0) return std::nullopt;
    if (told_ == number_) return "";
    told_ = number_;
    return "number " + std::to_string(told_) + "\n";
  }

 private:
  std::atomic<int>& number_;
  int told_ = 0;
};

TEST(HttpServer, StreamsWhenItIsWokenAndShowsThatItIsThere) {
  std::atomic<int> number = 1;
  HttpServer server(options({.streams = 2, .heartbeat = 1s}), [&](const Request&) {
    Response response;
    response.stream = std::make_unique<CountingStream>(number);
    return response;
  });
  RawClient client(server.port());
  client.say(kGet);
  client.hear("number 1");
  number = 2;
  server.wake_streams();
  EXPECT_NE(client.hear("number 2").find("number 2"), std::string::npos);
  EXPECT_NE(client.hear("\r\n:\n\n").find("\r\n:\n\n"), std::string::npos) << "no heartbeat";
  RawClient second(server.port());
  second.say(kGet);
  second.hear("number");
  EXPECT_NE(get(server.port()).find(" 503 "), std::string::npos) << "a third stream";
  number = -1;
  server.wake_streams();
  client.hear("\r\n0\r\n\r\n");
  EXPECT_NE(client.hear("0\r\n\r\n").find("\r\n0\r\n\r\n"), std::string::npos) << "no end";
}

TEST(HttpServer, EndsWithStreamsAndRequestsUnderWay) {
  std::atomic<int> number = 1;
  auto server = std::make_unique<HttpServer>(options(), [&](const Request& request) {
    Response response;
    if (request.path == "/slow") std::this_thread::sleep_for(300ms);
    if (request.path == "/stream") response.stream = std::make_unique<CountingStream>(number);
    return response;
  });
  RawClient stream(server->port());
  stream.say("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  stream.hear("number 1");
  std::vector<RawClient> slow;
  for (int i = 0; i < 10; ++i) {
    slow.emplace_back(server->port());
    slow.back().say("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  std::this_thread::sleep_for(100ms);
  const auto begin = Clock::now();
  server.reset();
  EXPECT_LT(Clock::now() - begin, 5s);
}

}  // namespace
}  // namespace satrelay::panel::http_server_test
