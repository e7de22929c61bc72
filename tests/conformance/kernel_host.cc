#include "tests/conformance/kernel_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"

namespace satrelay::conformance {
namespace {

constexpr const char* kHostAddress = "192.0.2.1";
constexpr IpAddress kHost = IpAddress::v4({192, 0, 2, 1});
constexpr IpAddress kPeer = IpAddress::v4({192, 0, 2, 2});
constexpr int kHeaders = 40;
constexpr std::size_t kTcpChecksum = 16;

struct Sysctl {
  const char* name;
  const char* value;
};
// Settings that a kernel takes from its machine or its past, set alike everywhere. A script may set
// more.
constexpr Sysctl kBaseline[] = {
    {"net.ipv6.conf.all.disable_ipv6", "1"},
    {"net.ipv6.conf.default.disable_ipv6", "1"},
    {"net.ipv4.tcp_congestion_control", "reno"},
    {"net.ipv4.tcp_no_metrics_save", "1"},
    {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
    {"net.ipv4.tcp_wmem", "4096 262144 4194304"},
    {"net.ipv4.tcp_ecn", "0"},
    {"net.ipv4.tcp_timestamps", "1"},
    {"net.ipv4.tcp_sack", "1"},
    {"net.ipv4.tcp_window_scaling", "1"},
    // SACKs at once and not in batches.
    {"net.ipv4.tcp_comp_sack_nr", "0"},
};

int make_tun_ready(const Script& script) {
  for (const Sysctl& sysctl : kBaseline) {
    if (std::string(sysctl.name).find("ipv6") != std::string::npos &&
        access("/proc/sys/net/ipv6", F_OK) != 0) {
      continue;
    }
    set_sysctl(sysctl.name, sysctl.value);
  }
  for (const auto& [name, value] : script.sysctls) set_sysctl(name, value);
  return script.settings.mss + kHeaders;
}

sockaddr_in socket_address(const IpAddress& address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  std::memcpy(&result.sin_addr, address.octets().data(), 4);
  return result;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

void set_option(int fd, int level, int name, int value) {
  if (setsockopt(fd, level, name, &value, sizeof value) != 0) {
    throw std::system_error(errno, std::generic_category(), "setsockopt");
  }
}

std::vector<std::byte> ip_packet(std::uint8_t protocol, Ecn ecn, ConstBytes payload) {
  wire::IpHeader header;
  header.source = kPeer;
  header.destination = kHost;
  header.protocol = protocol;
  header.traffic_class = static_cast<std::uint8_t>(ecn);
  header.payload_size = static_cast<std::uint16_t>(payload.size());
  std::vector<std::byte> packet(wire::kIpv4HeaderSize + payload.size());
  wire::write_ip(header, packet);
  std::copy(payload.begin(), payload.end(), packet.begin() + wire::kIpv4HeaderSize);
  return packet;
}

// The "st" column of /proc/net/tcp.
const char* state_name(unsigned number) {
  static constexpr const char* kNames[] = {
      "",       "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED", "FIN-WAIT-1", "FIN-WAIT-2",  "TIME-WAIT",
      "CLOSED", "CLOSE-WAIT",  "LAST-ACK", "LISTEN",       "CLOSING",    "SYN-RECEIVED"};
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

}  // namespace

KernelHost::KernelHost(const Script& script)
    : settings_(script.settings), tun_(kHostAddress, make_tun_ready(script)) {}

KernelHost::~KernelHost() {
  if (connection_ >= 0) ::close(connection_);
  if (listener_ >= 0) ::close(listener_);
}

Tolerance KernelHost::tolerance() const {
  // Timers run in ticks of 4 ms at 250 Hz, and the timer wheel rounds up by an eighth.
  return {Duration::milliseconds(7), Duration::milliseconds(25), 7};
}

int KernelHost::make_socket() const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  set_option(fd, SOL_SOCKET, SO_OOBINLINE, 1);  // RFC 6093 section 5
  if (!settings_.nagle) set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (settings_.window) set_option(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(*settings_.window));
  if (settings_.send_buffer) {
    set_option(fd, SOL_SOCKET, SO_SNDBUF, static_cast<int>(*settings_.send_buffer));
  }
  const sockaddr_in own = socket_address(kHost, kHostToPeer.source);
  if (bind(fd, generic(own), sizeof own) != 0) {
    throw std::system_error(errno, std::generic_category(), "bind");
  }
  return fd;
}

std::optional<Departure> KernelHost::wait_for_segment(Instant deadline) {
  while (auto packet = tun_.receive(deadline)) {
    const auto header = wire::parse_ip(*packet);
    if (!header || header->protocol != wire::kProtocolTcp || header->destination != kPeer) continue;
    auto segment = decode(ConstBytes(*packet).subspan(header->header_size, header->payload_size));
    if (!segment) continue;
    segment->ecn = static_cast<Ecn>(header->traffic_class & 3);
    return Departure{now(), std::move(*segment)};
  }
  return std::nullopt;
}

void KernelHost::deliver(std::vector<std::byte> segment, Ecn ecn) {
  store_u16(segment.data() + kTcpChecksum,
            wire::transport_checksum(kPeer, kHost, wire::kProtocolTcp, segment));
  tun_.send(ip_packet(wire::kProtocolTcp, ecn, segment));
}

void KernelHost::deliver_too_big(std::uint32_t sequence, std::uint16_t mtu) {
  deliver_icmp(4, sequence, mtu);
}

void KernelHost::deliver_unreachable(std::uint32_t sequence, std::uint8_t code) {
  deliver_icmp(code, sequence, 0);
}

void KernelHost::deliver_icmp(std::uint8_t code, std::uint32_t sequence, std::uint16_t mtu) {
  // RFC 792 and 1191: type 3, the code, the next hop's MTU; then the packet's IP header and 8
  // bytes.
  std::vector<std::byte> message(8 + wire::kIpv4HeaderSize + 8);
  store_u8(message.data(), 3);
  store_u8(message.data() + 1, code);
  store_u16(message.data() + 6, mtu);
  wire::IpHeader quoted;
  quoted.source = kHost;
  quoted.destination = kPeer;
  quoted.protocol = wire::kProtocolTcp;
  quoted.payload_size = settings_.mss;
  wire::write_ip(quoted, MutableBytes(message).subspan(8));
  std::byte* tcp = message.data() + 8 + wire::kIpv4HeaderSize;
  store_u16(tcp, kHostToPeer.source);
  store_u16(tcp + 2, kHostToPeer.destination);
  store_u32(tcp + 4, sequence);
  store_u16(message.data() + 2, static_cast<std::uint16_t>(~wire::checksum_sum(message)));
  tun_.send(ip_packet(wire::kProtocolIcmp, Ecn::kNotEct, message));
}

void KernelHost::listen() {
  listener_ = make_socket();
  if (::listen(listener_, 8) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
}

void KernelHost::connect(const std::vector<Option>& offer, EcnOffered ecn) {
  const auto offers = [&offer](OptionKind kind) {
    return std::any_of(offer.begin(), offer.end(),
                       [kind](const Option& option) { return option.kind == kind; });
  };
  set_sysctl("net.ipv4.tcp_sack", offers(OptionKind::kSackPermitted) ? "1" : "0");
  set_sysctl("net.ipv4.tcp_timestamps", offers(OptionKind::kTimestamps) ? "1" : "0");
  set_sysctl("net.ipv4.tcp_window_scaling", offers(OptionKind::kWindowScale) ? "1" : "0");
  set_sysctl("net.ipv4.tcp_ecn", ecn == EcnOffered::kYes ? "1" : "0");
  connection_ = make_socket();
  const sockaddr_in peer = socket_address(kPeer, kHostToPeer.destination);
  if (::connect(connection_, generic(peer), sizeof peer) != 0 && errno != EINPROGRESS) {
    throw std::system_error(errno, std::generic_category(), "connect");
  }
}

int KernelHost::connection() {
  if (connection_ < 0 && listener_ >= 0) {
    connection_ = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  }
  return connection_;
}

void KernelHost::note_error(int number) {
  if (number == ECONNRESET || number == EPIPE) error_ = "reset";
  if (number == ECONNREFUSED) error_ = "refused";
  if (number == ETIMEDOUT) error_ = "timeout";
  if (number == EHOSTUNREACH || number == ENETUNREACH) error_ = "unreachable";
}

std::size_t KernelHost::write(ConstBytes bytes) {
  const ssize_t size = send(connection(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (size < 0) note_error(errno);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t KernelHost::write_urgent(ConstBytes bytes) {
  const ssize_t size = send(connection(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_OOB);
  if (size < 0) note_error(errno);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

bool KernelHost::at_mark() {
  int is_there = 0;
  return ioctl(connection(), SIOCATMARK, &is_there) == 0 && is_there != 0;
}

std::size_t KernelHost::readable() {
  int count = 0;
  if (ioctl(connection(), FIONREAD, &count) != 0) return 0;
  return static_cast<std::size_t>(count);
}

std::vector<std::byte> KernelHost::read(std::size_t most) {
  std::vector<std::byte> bytes(most);
  std::size_t taken = 0;
  while (taken < most) {  // Reading stops at urgent data.
    const ssize_t size = recv(connection(), bytes.data() + taken, most - taken, 0);
    if (size < 0) note_error(errno);
    if (size <= 0) break;
    taken += static_cast<std::size_t>(size);
  }
  bytes.resize(taken);
  return bytes;
}

bool KernelHost::at_end() {
  std::byte byte{};
  const ssize_t size = recv(connection(), &byte, 1, MSG_PEEK);
  if (size < 0) note_error(errno);
  return size == 0;
}

void KernelHost::close() {
  if (connection() >= 0) ::close(connection_);
  connection_ = -1;
}

void KernelHost::shutdown() { ::shutdown(connection(), SHUT_WR); }

void KernelHost::abort() {
  const linger at_once{1, 0};
  setsockopt(connection(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
  error_ = "aborted";
}

std::string KernelHost::state() {
  // /proc also lists sockets that no descriptor holds any more: orphans and TIME-WAIT.
  std::ifstream table("/proc/self/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string index;
    std::string local;
    std::string remote;
    unsigned state = 0;
    words >> index >> local >> remote >> std::hex >> state;
    const bool from_here = local.size() > 4 && local.substr(local.size() - 4) == "1F90";
    if (from_here && remote.size() > 4 && remote.substr(remote.size() - 4) == "9C40") {
      return state_name(state);
    }
  }
  return "CLOSED";
}

std::string KernelHost::error() {
  int number = 0;
  socklen_t size = sizeof number;
  if (connection() >= 0 && getsockopt(connection_, SOL_SOCKET, SO_ERROR, &number, &size) == 0) {
    note_error(number);
  }
  return error_;
}

}  // namespace satrelay::conformance
