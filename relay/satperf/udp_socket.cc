#include "relay/satperf/udp_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "relay/satperf/machine.h"

namespace satrelay::satperf {
namespace {

// The receive buffer holds the data that arrives within this time at the receive rate. On a busy
// machine, the process may have to wait this long for the CPU.
constexpr Duration kReceiveTime = Duration::milliseconds(100);
// The send buffer holds the data that is sent within this time at the send rate. This is more than
// the pacer's burst.
constexpr Duration kSendTime = Duration::milliseconds(20);
constexpr std::uint64_t kSmallestKernelBuffer = 512 * 1024;

template <typename T>
bool set_option(int descriptor, int level, int option, const T& value) {
  return ::setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

// Appends a control message. msg_control must have room for it.
template <typename T>
void add_control(msghdr& header, int level, int type, const T& value) {
  auto* const control =
      reinterpret_cast<cmsghdr*>(static_cast<char*>(header.msg_control) + header.msg_controllen);
  control->cmsg_level = level;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(control), &value, sizeof value);
  header.msg_controllen += CMSG_SPACE(sizeof value);
}

const in6_addr& v6_of(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
}

}  // namespace

// --- addresses ---------------------------------------------------------------------------------

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

bool SocketAddress::is_v4() const {
  return family() == AF_INET || (family() == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6_of(storage_)));
}

std::string SocketAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  const std::string port =
      std::to_string(ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port));
  if (is_v4()) {
    ::inet_ntop(AF_INET, &v6_of(storage_).s6_addr[12], text, sizeof text);
    return std::string(text) + ":" + port;
  }
  ::inet_ntop(AF_INET6, &v6_of(storage_), text, sizeof text);
  std::string bracketed(1, '[');
  bracketed += text;
  bracketed += "]:";
  return bracketed += port;
}

bool SocketAddress::operator==(const SocketAddress& other) const {
  if (family() != other.family()) return false;
  if (family() == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(storage_);
    const auto& b = reinterpret_cast<const sockaddr_in&>(other.storage_);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  const auto& a = reinterpret_cast<const sockaddr_in6&>(storage_);
  const auto& b = reinterpret_cast<const sockaddr_in6&>(other.storage_);
  return a.sin6_port == b.sin6_port && a.sin6_scope_id == b.sin6_scope_id &&
         std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr) == 0;
}

std::vector<SocketAddress> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV | (host.empty() ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                  std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    throw Unreachable("cannot resolve " + host + ": " + ::gai_strerror(error));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
  }
  ::freeaddrinfo(list);
  // The list has addresses of this machine. Put IPv6 first, since an IPv6 socket also receives
  // IPv4.
  if (host.empty()) {
    std::stable_partition(addresses.begin(), addresses.end(),
                          [](const SocketAddress& a) { return a.family() == AF_INET6; });
  }
  return addresses;
}

std::size_t interface_mtu(const SocketAddress& peer) {
  const int descriptor = ::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const bool v6 = peer.family() == AF_INET6;
  const bool known = ::connect(descriptor, peer.get(), peer.size()) == 0 &&
                     ::getsockopt(descriptor, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                  v6 ? IPV6_MTU : IP_MTU, &mtu, &size) == 0;
  ::close(descriptor);
  return known && mtu > 0 ? static_cast<std::size_t>(mtu) : 0;
}

// --- the socket --------------------------------------------------------------------------------

struct UdpSocket::Slots {
  struct Control {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  };
  Slots() : bytes(kMessages * kMessageBytes) {
    for (std::size_t i = 0; i < kMessages; ++i) {
      vectors[i] = {bytes.data() + i * kMessageBytes, kMessageBytes};
    }
  }
  std::vector<std::byte> bytes;
  std::array<iovec, kMessages> vectors{};
  std::array<sockaddr_storage, kMessages> names{};
  std::array<Control, kMessages> controls{};
  std::array<mmsghdr, kMessages> headers{};
};

UdpSocket::UdpSocket(const SocketAddress& bind_to) : slots_(std::make_unique<Slots>()) {
  descriptor_ = ::socket(bind_to.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) {
    throw Unreachable(std::string("cannot open a UDP socket: ") + std::strerror(errno));
  }
  if (bind_to.family() == AF_INET6) set_option(descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(descriptor_, bind_to.get(), bind_to.size()) != 0) {
    const int error = errno;
    ::close(descriptor_);
    throw BadOption("cannot listen or send at " + bind_to.to_string() + ": " +
                    std::strerror(error) + "; see --bind and --port");
  }
  // Send datagrams unfragmented or not at all, and ignore the kernel's estimate of the path MTU.
  set_option(descriptor_, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  if (bind_to.family() == AF_INET6) {
    set_option(descriptor_, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
  }
  set_option(descriptor_, IPPROTO_UDP, UDP_GRO, 1);
  const int segment = 0;
  if (!set_option(descriptor_, IPPROTO_UDP, UDP_SEGMENT, segment)) {
    grouping_ = SendBatch::Grouping::kOff;
  }
}

UdpSocket::~UdpSocket() { ::close(descriptor_); }

void UdpSocket::connect(const SocketAddress& peer) {
  if (::connect(descriptor_, peer.get(), peer.size()) != 0) {
    throw Unreachable("cannot reach " + peer.to_string() + ": " + std::strerror(errno));
  }
  peer_ = peer;
}

std::vector<std::string> UdpSocket::size_buffers(BitRate send_rate, BitRate receive_rate) {
  std::vector<std::string> warnings;
  const auto ask = [&](int forced, int option, std::uint64_t bytes, const char* limit) {
    bytes = std::clamp<std::uint64_t>(bytes, kSmallestKernelBuffer, 1 << 29);
    const int wanted = static_cast<int>(bytes);
    if (set_option(descriptor_, SOL_SOCKET, forced, wanted)) return;
    set_option(descriptor_, SOL_SOCKET, option, wanted);
    int got = 0;
    socklen_t size = sizeof got;
    ::getsockopt(descriptor_, SOL_SOCKET, option, &got, &size);
    got /= 2;  // the kernel reports twice the size, since it adds room for its bookkeeping
    if (got >= wanted) return;
    warnings.push_back("the kernel gives the socket " + std::to_string(got) + " bytes of " +
                       std::to_string(wanted) + "; raise it with sysctl -w " + limit + "=" +
                       std::to_string(wanted) + " or losses may be those of this machine");
  };
  ask(SO_RCVBUFFORCE, SO_RCVBUF, receive_rate.bytes_in(kReceiveTime).value(), "net.core.rmem_max");
  ask(SO_SNDBUFFORCE, SO_SNDBUF, send_rate.bytes_in(kSendTime).value(), "net.core.wmem_max");
  return warnings;
}

void UdpSocket::note_error(int error) {
  if (error == ECONNREFUSED) {
    errors_.refused = true;
  } else {
    errors_.last = error;
  }
}

UdpSocket::Sent UdpSocket::send(SendBatch& batch, const SocketAddress* peer) {
  constexpr std::size_t kAtOnce = 64;
  while (!batch.empty()) {
    const auto groups = batch.groups().first(std::min(batch.groups().size(), kAtOnce));
    std::array<mmsghdr, kAtOnce> headers{};
    std::array<iovec, kAtOnce> vectors;
    struct Control {
      alignas(cmsghdr)
          std::array<char, CMSG_SPACE(sizeof(std::uint16_t)) + CMSG_SPACE(sizeof(int))> bytes;
    };
    std::array<Control, kAtOnce> controls;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const ConstBytes bytes = batch.bytes(groups[i]);
      vectors[i] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
      msghdr& header = headers[i].msg_hdr;
      header.msg_iov = &vectors[i];
      header.msg_iovlen = 1;
      if (peer != nullptr) {
        header.msg_name = const_cast<sockaddr*>(peer->get());
        header.msg_namelen = peer->size();
      }
      header.msg_control = controls[i].bytes.data();
      header.msg_controllen = 0;
      if (groups[i].count > 1) {
        add_control(header, IPPROTO_UDP, UDP_SEGMENT,
                    static_cast<std::uint16_t>(groups[i].segment));
      }
      if (const int traffic_class = groups[i].traffic_class; traffic_class != 0) {
        const bool v4 = (peer != nullptr ? *peer : peer_).is_v4();
        add_control(header, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS,
                    traffic_class);
      }
      if (header.msg_controllen == 0) header.msg_control = nullptr;
    }
    const int sent =
        ::sendmmsg(descriptor_, headers.data(), static_cast<unsigned>(groups.size()), 0);
    if (sent > 0) {
      batch.remove(static_cast<std::size_t>(sent));
      continue;
    }
    const int error = errno;
    if (error == EAGAIN || error == EINTR) return Sent::kBlocked;
    // The error is about an earlier datagram, and this datagram was not sent.
    if (error == ECONNREFUSED) {
      note_error(error);
      continue;
    }
    if (groups.front().count > 1 && (error == EIO || error == EINVAL)) {
      // The kernel splits a group into datagrams only if the device computes the checksums. This
      // device cannot compute them.
      grouping_ = SendBatch::Grouping::kOff;
      batch.split();
      continue;
    }
    note_error(error);
    errors_.not_sent += groups.front().count;
    batch.remove(1);
  }
  return Sent::kAll;
}

void UdpSocket::send_one(ConstBytes datagram, const SocketAddress* peer) {
  const ssize_t sent =
      ::sendto(descriptor_, datagram.data(), datagram.size(), 0,
               peer == nullptr ? nullptr : peer->get(), peer == nullptr ? 0 : peer->size());
  if (sent >= 0 || errno == EAGAIN) return;
  note_error(errno);
  ++errors_.not_sent;
}

std::size_t UdpSocket::receive_messages() {
  Slots& slots = *slots_;
  for (std::size_t i = 0; i < kMessages; ++i) {
    msghdr& header = slots.headers[i].msg_hdr;
    header.msg_name = &slots.names[i];
    header.msg_namelen = sizeof slots.names[i];
    header.msg_iov = &slots.vectors[i];
    header.msg_iovlen = 1;
    header.msg_control = slots.controls[i].bytes.data();
    header.msg_controllen = slots.controls[i].bytes.size();
    header.msg_flags = 0;
  }
  const int count = ::recvmmsg(descriptor_, slots.headers.data(), kMessages, 0, nullptr);
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && errno != EAGAIN && errno != EINTR) note_error(errno);
  return 0;
}

UdpSocket::Received UdpSocket::received(std::size_t index) const {
  mmsghdr& message = slots_->headers[index];
  Received received{ConstBytes(slots_->bytes).subspan(index * kMessageBytes, message.msg_len),
                    message.msg_len,
                    SocketAddress(reinterpret_cast<const sockaddr*>(&slots_->names[index]),
                                  message.msg_hdr.msg_namelen)};
  for (cmsghdr* control = CMSG_FIRSTHDR(&message.msg_hdr); control != nullptr;
       control = CMSG_NXTHDR(&message.msg_hdr, control)) {
    if (control->cmsg_level != IPPROTO_UDP || control->cmsg_type != UDP_GRO) continue;
    int segment = 0;
    std::memcpy(&segment, CMSG_DATA(control), sizeof segment);
    if (segment > 0) received.segment = static_cast<std::size_t>(segment);
  }
  return received;
}

void UdpSocket::wait(Instant now, Instant until, bool writable) const {
  pollfd descriptor{descriptor_, static_cast<short>(POLLIN | (writable ? POLLOUT : 0)), 0};
  timespec time{};
  const bool forever = until.is_never();
  if (!forever && until > now) {
    const std::int64_t nanoseconds = (until - now).to_nanoseconds();
    time.tv_sec = nanoseconds / 1'000'000'000;
    time.tv_nsec = nanoseconds % 1'000'000'000;
  }
  ::ppoll(&descriptor, 1, forever ? nullptr : &time, nullptr);
}

UdpSocket::Errors UdpSocket::take_errors() {
  const Errors errors = errors_;
  errors_ = {};
  return errors;
}

}  // namespace satrelay::satperf
