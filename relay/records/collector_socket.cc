#include "relay/records/collector_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace satrelay::records {
namespace {

struct SocketAddress {
  ::sockaddr_storage storage{};
  ::socklen_t size = 0;
};

SocketAddress address_of(const config::IpfixCollector& collector) {
  SocketAddress made;
  const auto& octets = collector.address.octets();
  if (collector.address.is_v4()) {
    ::sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(collector.port);
    std::memcpy(&to.sin_addr, octets.data(), 4);
    std::memcpy(&made.storage, &to, sizeof to);
    made.size = sizeof to;
  } else {
    ::sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(collector.port);
    std::memcpy(&to.sin6_addr, octets.data(), 16);
    std::memcpy(&made.storage, &to, sizeof to);
    made.size = sizeof to;
  }
  return made;
}

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

CollectorSocket::CollectorSocket(const config::IpfixCollector& collector, RecordCounters& counters)
    : collector_(collector), counters_(counters) {}

CollectorSocket::~CollectorSocket() {
  if (socket_ >= 0) ::close(socket_);
}

void CollectorSocket::open(Instant now) {
  const int family = collector_.address.is_v4() ? AF_INET : AF_INET6;
  const int type = is_tcp() ? SOCK_STREAM : SOCK_DGRAM;
  socket_ = ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return give_up("socket", errno, now);
  const SocketAddress to = address_of(collector_);
  if (::connect(socket_, reinterpret_cast<const ::sockaddr*>(&to.storage), to.size) == 0) {
    return begin(now);
  }
  if (errno != EINPROGRESS) return give_up("connect", errno, now);
  state_ = State::kConnecting;
  deadline_ = now + kConnectPatience;
}

void CollectorSocket::begin(Instant now) {
  state_ = State::kOpen;
  is_anew_ = true;
  opened_ = progress_ = now;
  reason_.clear();
  ++counters_.connections;
}

void CollectorSocket::give_up(std::string_view what, int error, Instant now) {
  if (is_steady(now)) wait_ = kFirstWait;
  reason_ = std::string(what) + ": " + std::strerror(error);
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  for (const Message& message : waiting_) counters_.unexported += message.records;
  waiting_.clear();
  waiting_size_ = front_sent_ = 0;
  state_ = State::kAway;
  deadline_ = now + wait_;
  wait_ = std::min(wait_ * 2, kLongestWait);
}

bool CollectorSocket::look(Instant now) {
  if (state_ == State::kAway && now >= deadline_) open(now);
  if (state_ == State::kConnecting) {
    ::pollfd asked{.fd = socket_, .events = POLLOUT, .revents = 0};
    int error = 0;
    ::socklen_t size = sizeof error;
    if (::poll(&asked, 1, 0) > 0) {
      if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
      if (error == 0) {
        begin(now);
      } else {
        give_up("connect", error, now);
      }
    } else if (now >= deadline_) {
      give_up("connect", ETIMEDOUT, now);
    }
  }
  if (state_ == State::kOpen) {
    // A collector sends no data, so a read only shows an error or the end of the connection.
    std::array<char, 256> ignored;
    const ::ssize_t heard = ::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (is_tcp() && heard == 0) {
      give_up("collector", ECONNRESET, now);
    } else if (heard < 0 && !would_wait(errno)) {
      give_up("collector", errno, now);
    } else {
      flush(now);
    }
  }
  return state_ == State::kOpen && std::exchange(is_anew_, false);
}

void CollectorSocket::count(std::size_t size, std::size_t records) {
  counters_.exported += records;
  counters_.exported_bytes += size;
  ++counters_.exported_messages;
}

void CollectorSocket::send_datagram(ConstBytes message, std::size_t records, Instant now) {
  if (::send(socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
    return count(message.size(), records);
  }
  const int error = errno;
  counters_.unexported += records;
  if (would_wait(error) || error == ENOBUFS) return;
  // ECONNREFUSED means that ICMP has reported a closed port for an earlier datagram. This report
  // does not always arrive here: look() may receive it first.
  give_up(error == ECONNREFUSED ? "collector" : "send", error, now);
}

void CollectorSocket::send(ConstBytes message, std::size_t records, Instant now) {
  if (!is_tcp()) return send_datagram(message, records, now);
  if (waiting_size_ + message.size() > kMostWaiting) {
    counters_.unexported += records;
    return;
  }
  if (waiting_.empty()) progress_ = now;
  waiting_.push_back({{message.begin(), message.end()}, records});
  waiting_size_ += message.size();
  flush(now);
}

void CollectorSocket::flush(Instant now) {
  while (!waiting_.empty()) {
    const Message& front = waiting_.front();
    const ConstBytes rest = ConstBytes(front.bytes).subspan(front_sent_);
    const ::ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !would_wait(errno)) return give_up("send", errno, now);
    if (sent < 0) {
      if (now >= progress_ + kStallPatience) give_up("send", ETIMEDOUT, now);
      return;
    }
    progress_ = now;
    front_sent_ += static_cast<std::size_t>(sent);
    if (front_sent_ < front.bytes.size()) continue;
    count(front.bytes.size(), front.records);
    waiting_size_ -= front.bytes.size();
    front_sent_ = 0;
    waiting_.pop_front();
  }
}

}  // namespace satrelay::records
