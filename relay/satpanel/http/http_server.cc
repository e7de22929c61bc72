#include "relay/satpanel/http/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>

#include "relay/ops/control/unix_listener.h"
#include "relay/satpanel/http/forwarding.h"

namespace satrelay::panel {
namespace {

using Clock = std::chrono::steady_clock;

// Rate in bytes a second from which the time limit of a long answer is computed.
constexpr std::size_t kSlowestClient = 64'000;
// A body of at most this many bytes is sent even if the limit of unsent bytes is exceeded.
constexpr std::size_t kSmallBody = 4'096;

sockaddr_storage address_of(const ServerOptions& options) {
  sockaddr_storage storage{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, options.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(options.port);
  } else if (::inet_pton(AF_INET6, options.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(options.port);
  } else {
    throw std::runtime_error(options.address + " is not an IPv4 or IPv6 address to listen at");
  }
  return storage;
}

std::string remote_of(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  char text[INET6_ADDRSTRLEN] = "";
  if (info == nullptr || info->client_addr == nullptr) return text;
  const sockaddr* address = info->client_addr;
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text,
                sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
                sizeof text);
  }
  return text;
}

// Returns whether the client has closed the connection. libmicrohttpd does not notice this while
// the handler works on a request, since it does not read from the connection then.
bool is_closed(int descriptor) {
  pollfd far_end{descriptor, POLLRDHUP, 0};
  return ::poll(&far_end, 1, 0) > 0;
}

// Returns the values of all headers with this name.
std::vector<std::string> headers_of(MHD_Connection* connection, const char* name) {
  struct Search {
    const char* name;
    std::vector<std::string> found;
  } search{name, {}};
  const auto look = [](void* cls, MHD_ValueKind /*kind*/, const char* key, const char* value) {
    auto& wanted = *static_cast<Search*>(cls);
    if (key != nullptr && ::strcasecmp(key, wanted.name) == 0) {
      wanted.found.emplace_back(value == nullptr ? "" : value);
    }
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &search);
  return search.found;
}

using Texts = std::map<std::string, std::string>;

MHD_Result add_value(void* cls, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  if (key != nullptr) (*static_cast<Texts*>(cls))[key] = value == nullptr ? "" : value;
  return MHD_YES;
}

MHD_Result add_header(void* cls, MHD_ValueKind kind, const char* key, const char* value) {
  std::string name(key == nullptr ? "" : key);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return add_value(cls, kind, name.c_str(), value);
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const ServerOptions& options, Handler handler);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  std::uint16_t port() const {
    return MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)->port;
  }
  void wake_streams();
  Counters counters() const {
    return {requests_.load(), connections_cut_.load(), refused_busy_.load(), refused_long_.load()};
  }

 private:
  // A connection, with its deadline.
  struct Client {
    int descriptor = -1;
    Clock::time_point since;  // when the server began to wait for a request, or to send an answer
    std::chrono::seconds to_answer{0};
    bool is_answered = false;
    bool is_stream = false;
    bool is_cut = false;
  };

  // A request and its answer. An exchange exists from the arrival of the request's head until the
  // answer has been sent.
  struct Exchange {
    enum class Step : std::uint8_t { kArriving, kHandedOver, kReady };
    MHD_Connection* connection = nullptr;
    Client* client = nullptr;
    Request request;
    Response response;
    bool is_too_long = false;
    Step step = Step::kArriving;  // at kReady `response` is complete
  };

  // An answer that is a stream. MHD_resume_connection() may be called only while `is_suspended`.
  struct OpenStream {
    Impl* server = nullptr;
    MHD_Connection* connection = nullptr;
    std::unique_ptr<Stream> stream;
    bool is_suspended = false;
    bool is_heartbeat_due = false;
  };

  // The body of an answer. It exists until the client has read all of it.
  struct Body {
    Impl* server = nullptr;
    std::string text;
  };

  // --- called by libmicrohttpd, in its thread
  static MHD_Result on_request(void* cls, MHD_Connection* connection, const char* url,
                               const char* method, const char* version, const char* data,
                               std::size_t* size, void** context);
  static void on_connection(void* cls, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what);
  static void on_completed(void* cls, MHD_Connection* connection, void** context,
                           MHD_RequestTerminationCode why);
  static ssize_t on_stream(void* cls, std::uint64_t position, char* buffer, std::size_t most);
  static void on_stream_end(void* cls);
  static void on_body_end(void* cls);

  void listen_at_port(const ServerOptions& options);
  void listen_at_socket(const ServerOptions& options);
  bool start(unsigned flags, MHD_OptionItem where);
  MHD_Result begin(MHD_Connection* connection, const char* url, const char* method, void** context);
  bool name_client(Exchange& exchange) const;
  bool hand_over(Exchange& exchange);
  MHD_Result answer(Exchange& exchange);
  MHD_Response* make_response(Exchange& exchange);

  void work();
  void keep_deadlines();
  void cut_late_clients(Clock::time_point now);

  const ServerLimits limits_;
  Handler handler_;
  std::unique_ptr<ops::UnixListener> socket_;  // nullptr if the server listens at a port
  MHD_Daemon* daemon_ = nullptr;

  std::mutex mutex_;  // guards the next three members
  std::condition_variable changed_;
  std::deque<Exchange*> waiting_;
  bool is_stopping_ = false;

  std::mutex clients_mutex_;
  std::set<Client*> clients_;

  std::mutex streams_mutex_;
  std::set<OpenStream*> streams_;
  bool streams_end_ = false;

  std::atomic<std::size_t> unread_ = 0;  // bytes
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> connections_cut_ = 0;
  std::atomic<std::uint64_t> refused_busy_ = 0;
  std::atomic<std::uint64_t> refused_long_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::Impl::Impl(const ServerOptions& options, Handler handler)
    : limits_(options.limits), handler_(std::move(handler)) {
  if (options.socket.empty()) {
    listen_at_port(options);
  } else {
    listen_at_socket(options);
  }
  for (int i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { keep_deadlines(); });
}

void HttpServer::Impl::listen_at_port(const ServerOptions& options) {
  sockaddr_storage address = address_of(options);
  errno = 0;
  if (start(address.ss_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG,
            {MHD_OPTION_SOCK_ADDR, 0, &address})) {
    return;
  }
  // The library does not report why it failed, so guess from errno.
  const bool is_known = errno == EADDRINUSE || errno == EACCES || errno == EADDRNOTAVAIL;
  throw std::runtime_error(
      fmt::format("cannot listen at {} port {}: {}", options.address, options.port,
                  is_known ? std::strerror(errno) : "no socket, or no thread"));
}

void HttpServer::Impl::listen_at_socket(const ServerOptions& options) {
  socket_ = std::make_unique<ops::UnixListener>(options.socket, SOMAXCONN, options.access);
  // The library closes its descriptor, and the listener closes its own.
  const int descriptor = ::fcntl(socket_->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0 || !start(MHD_NO_FLAG, {MHD_OPTION_LISTEN_SOCKET, descriptor, nullptr})) {
    throw std::runtime_error("cannot listen at unix:" + options.socket +
                             ": no descriptor, or no thread");
  }
}

bool HttpServer::Impl::start(unsigned flags, MHD_OptionItem where) {
  // Use poll() instead of epoll. If exactly 128 events, or a multiple of 128, arrive at once,
  // libmicrohttpd 0.9.75 does not handle them until another event arrives.
  flags |= MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  MHD_OptionItem items[] = {where,
                            {MHD_OPTION_CONNECTION_LIMIT, limits_.connections, nullptr},
                            {MHD_OPTION_CONNECTION_TIMEOUT, limits_.idle.count(), nullptr},
                            {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
                            {MHD_OPTION_END, 0, nullptr}};
  daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &on_request, this,  //
                             MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this,
                             MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this,  //
                             MHD_OPTION_ARRAY, items, MHD_OPTION_END);
  return daemon_ != nullptr;
}

HttpServer::Impl::~Impl() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  {
    const std::lock_guard lock(streams_mutex_);
    streams_end_ = true;
  }
  wake_streams();  // the library cannot end a suspended connection
  MHD_stop_daemon(daemon_);
}

// --- connections and their deadlines -----------------------------------------------------------

void HttpServer::Impl::on_connection(void* cls, MHD_Connection* connection, void** context,
                                     MHD_ConnectionNotificationCode what) {
  auto& self = *static_cast<Impl*>(cls);
  const std::lock_guard lock(self.clients_mutex_);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    try {
      auto client = std::make_unique<Client>();
      client->descriptor =
          MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
      client->since = Clock::now();
      self.clients_.insert(client.get());
      *context = client.release();
    } catch (const std::bad_alloc&) {
      // If the context is null, on_request() ends the connection at the first request.
      *context = nullptr;
    }
  } else if (*context != nullptr) {
    auto* client = static_cast<Client*>(*context);
    self.clients_.erase(client);
    delete client;
  }
}

void HttpServer::Impl::cut_late_clients(Clock::time_point now) {
  const std::lock_guard lock(clients_mutex_);
  const bool is_crowded = clients_.size() > limits_.connections / 4 * 3;
  const std::chrono::seconds longest = is_crowded ? limits_.crowded : limits_.request;
  for (Client* client : clients_) {
    // Answers get more time, for clients on slow lines. Streams have a different limit.
    if (client->is_cut || client->is_stream) continue;
    if (now - client->since < (client->is_answered ? client->to_answer : longest)) continue;
    // The descriptor stays valid until on_connection() handles the end of this connection.
    ::shutdown(client->descriptor, SHUT_RDWR);
    client->is_cut = true;
    ++connections_cut_;
  }
}

void HttpServer::Impl::keep_deadlines() {
  Clock::time_point heartbeat = Clock::now();
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return is_stopping_; });
    lock.unlock();
    const Clock::time_point now = Clock::now();
    cut_late_clients(now);
    if (now - heartbeat >= limits_.heartbeat) {
      heartbeat = now;
      {
        const std::lock_guard streams_lock(streams_mutex_);
        for (OpenStream* stream : streams_) stream->is_heartbeat_due = true;
      }
      wake_streams();
    }
    lock.lock();
  }
}

// --- requests ------------------------------------------------------------------------------------

MHD_Result HttpServer::Impl::begin(MHD_Connection* connection, const char* url, const char* method,
                                   void** context) {
  auto exchange = std::make_unique<Exchange>();
  exchange->connection = connection;
  exchange->client = static_cast<Client*>(
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
  if (exchange->client == nullptr) return MHD_NO;
  exchange->request.method = method;
  exchange->request.path = url;
  *context = exchange.release();
  return MHD_YES;
}

MHD_Result HttpServer::Impl::on_request(void* cls, MHD_Connection* connection, const char* url,
                                        const char* method, const char* /*version*/,
                                        const char* data, std::size_t* size, void** context) {
  auto& self = *static_cast<Impl*>(cls);
  try {
    if (*context == nullptr) return self.begin(connection, url, method, context);
    auto& exchange = *static_cast<Exchange*>(*context);
    if (*size > 0) {
      // If the body is too long, read and discard the rest of it, so that the client then reads the
      // error. The deadline still applies.
      std::string& body = exchange.request.body;
      exchange.is_too_long = exchange.is_too_long || body.size() + *size > self.limits_.body;
      if (exchange.is_too_long) {
        body.clear();
      } else {
        body.append(data, *size);
      }
      *size = 0;
      return MHD_YES;
    }
    if (exchange.step == Exchange::Step::kReady) return self.answer(exchange);
    if (exchange.step == Exchange::Step::kHandedOver) return MHD_YES;
    ++self.requests_;
    {
      const std::lock_guard lock(self.clients_mutex_);
      exchange.client->is_answered = true;
      exchange.client->since = Clock::now();
      exchange.client->to_answer = self.limits_.answer;
    }
    if (exchange.is_too_long) {
      ++self.refused_long_;
      exchange.response =
          problem(413, fmt::format("The body may have {} bytes.", self.limits_.body));
      return self.answer(exchange);
    }
    if (!self.name_client(exchange)) {
      exchange.response = problem(400,
                                  "X-Real-IP must be one IP address, and X-Forwarded-Proto must be "
                                  "http or https. The web server in front of satpanel sets them.");
      return self.answer(exchange);
    }
    if (self.hand_over(exchange)) return MHD_YES;
    ++self.refused_busy_;
    exchange.response = problem(503, "Too many requests wait. Try again in a few seconds.");
    return self.answer(exchange);
  } catch (const std::exception&) {  // out of memory; the caller is C code
    return MHD_NO;
  }
}

// Finds the client's address. Returns false if the web server names the client in a wrong way.
bool HttpServer::Impl::name_client(Exchange& exchange) const {
  Request& request = exchange.request;
  if (socket_ == nullptr) {
    // Any program of this machine may connect here, so its headers prove nothing.
    request.remote = remote_of(exchange.connection);
    return true;
  }
  auto client = read_forwarding(headers_of(exchange.connection, "X-Real-IP"),
                                headers_of(exchange.connection, "X-Forwarded-Proto"));
  if (!client) return false;
  request.remote = std::move(client->address);
  request.is_https = client->is_https;
  return true;
}

bool HttpServer::Impl::hand_over(Exchange& exchange) {
  Request& request = exchange.request;
  request.has_left = [descriptor = exchange.client->descriptor] { return is_closed(descriptor); };
  MHD_get_connection_values(exchange.connection, MHD_HEADER_KIND, &add_header, &request.headers);
  MHD_get_connection_values(exchange.connection, MHD_GET_ARGUMENT_KIND, &add_value, &request.query);
  MHD_get_connection_values(exchange.connection, MHD_COOKIE_KIND, &add_value, &request.cookies);
  const std::lock_guard lock(mutex_);
  if (is_stopping_ || waiting_.size() >= limits_.waiting) return false;
  waiting_.push_back(&exchange);
  exchange.step = Exchange::Step::kHandedOver;
  MHD_suspend_connection(exchange.connection);
  changed_.notify_all();
  return true;
}

void HttpServer::Impl::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Exchange& exchange = *waiting_.front();
    waiting_.pop_front();
    const bool is_last = is_stopping_;
    lock.unlock();
    try {
      exchange.response =
          is_last ? problem(503, "The panel is being stopped.") : handler_(exchange.request);
    } catch (const std::bad_alloc&) {
      exchange.response = {};
      exchange.response.status = 503;
    } catch (const std::exception& error) {
      exchange.response = problem(500, error.what());
    }
    exchange.step = Exchange::Step::kReady;
    // From here on, only the library's thread may use the exchange.
    MHD_resume_connection(exchange.connection);
    lock.lock();
  }
}

// --- answers -------------------------------------------------------------------------------------

MHD_Response* HttpServer::Impl::make_response(Exchange& exchange) {
  Response& response = exchange.response;
  // Limit the memory of unsent answers, since some clients send requests but read no answers.
  if (response.body.size() > kSmallBody && unread_ + response.body.size() > limits_.unread) {
    ++refused_busy_;
    response = problem(503, "Too many clients are reading answers. Try again in a few seconds.");
  }
  if (response.stream != nullptr) {
    auto open = std::make_unique<OpenStream>();
    open->server = this;
    open->connection = exchange.connection;
    open->stream = std::move(response.stream);
    bool is_room = false;
    {
      const std::lock_guard lock(streams_mutex_);
      is_room = streams_.size() < limits_.streams && !streams_end_;
      if (is_room) streams_.insert(open.get());
    }
    if (is_room) {
      {
        const std::lock_guard lock(clients_mutex_);
        exchange.client->is_stream = true;
      }
      MHD_Response* made = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, &on_stream,
                                                             open.get(), &on_stream_end);
      if (made == nullptr) {
        const std::lock_guard lock(streams_mutex_);
        streams_.erase(open.get());
      } else {
        static_cast<void>(open.release());
      }
      return made;
    }
    ++refused_busy_;
    response = problem(503, "Too many streams of events are open.");
  }
  auto body = std::make_unique<Body>(Body{this, std::move(response.body)});
  {
    const std::lock_guard lock(clients_mutex_);
    exchange.client->since = Clock::now();
    exchange.client->to_answer =
        limits_.answer + std::chrono::seconds(body->text.size() / kSlowestClient);
  }
  unread_ += body->text.size();
  MHD_Response* made = MHD_create_response_from_buffer_with_free_callback_cls(
      body->text.size(), body->text.data(), &on_body_end, body.get());
  if (made == nullptr) {
    unread_ -= body->text.size();
  } else {
    static_cast<void>(body.release());
  }
  return made;
}

void HttpServer::Impl::on_body_end(void* cls) {
  const std::unique_ptr<Body> body(static_cast<Body*>(cls));
  body->server->unread_ -= body->text.size();
}

MHD_Result HttpServer::Impl::answer(Exchange& exchange) {
  MHD_Response* made = make_response(exchange);
  if (made == nullptr) return MHD_NO;
  const Response& response = exchange.response;
  MHD_add_response_header(made, MHD_HTTP_HEADER_CONTENT_TYPE, response.type.c_str());
  for (const auto& [name, value] : response.headers) {
    MHD_add_response_header(made, name.c_str(), value.c_str());
  }
  const MHD_Result result =
      MHD_queue_response(exchange.connection, static_cast<unsigned>(response.status), made);
  MHD_destroy_response(made);
  return result;
}

void HttpServer::Impl::on_completed(void* cls, MHD_Connection* /*connection*/, void** context,
                                    MHD_RequestTerminationCode /*why*/) {
  auto& self = *static_cast<Impl*>(cls);
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*context));
  *context = nullptr;
  if (exchange == nullptr) return;
  const std::lock_guard lock(self.clients_mutex_);
  exchange->client->is_answered = false;
  exchange->client->is_stream = false;
  exchange->client->since = Clock::now();
}

// --- streams -------------------------------------------------------------------------------------

ssize_t HttpServer::Impl::on_stream(void* cls, std::uint64_t /*position*/, char* buffer,
                                    std::size_t most) {
  auto& open = *static_cast<OpenStream*>(cls);
  const std::lock_guard lock(open.server->streams_mutex_);
  if (open.server->streams_end_) return MHD_CONTENT_READER_END_OF_STREAM;
  try {
    std::optional<std::string> bytes = open.stream->poll(most);
    if (!bytes) return MHD_CONTENT_READER_END_OF_STREAM;
    // Sending an empty comment shows whether the client is still connected.
    if (bytes->empty() && open.is_heartbeat_due) bytes = ":\n\n";
    open.is_heartbeat_due = false;
    if (bytes->empty()) {
      open.is_suspended = true;
      MHD_suspend_connection(open.connection);
      return 0;
    }
    std::copy(bytes->begin(), bytes->end(), buffer);
    return static_cast<ssize_t>(bytes->size());
  } catch (const std::exception&) {
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

void HttpServer::Impl::on_stream_end(void* cls) {
  const std::unique_ptr<OpenStream> open(static_cast<OpenStream*>(cls));
  const std::lock_guard lock(open->server->streams_mutex_);
  open->server->streams_.erase(open.get());
}

void HttpServer::Impl::wake_streams() {
  const std::lock_guard lock(streams_mutex_);
  for (OpenStream* open : streams_) {
    if (!std::exchange(open->is_suspended, false)) continue;
    MHD_resume_connection(open->connection);
  }
}

HttpServer::HttpServer(const ServerOptions& options, Handler handler)
    : impl_(std::make_unique<Impl>(options, std::move(handler))) {}
HttpServer::~HttpServer() = default;
std::uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::wake_streams() { impl_->wake_streams(); }
HttpServer::Counters HttpServer::counters() const { return impl_->counters(); }

}  // namespace satrelay::panel
