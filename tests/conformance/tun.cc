#include "tests/conformance/tun.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <system_error>

namespace satrelay::conformance {
namespace {

constexpr std::size_t kLargestPacket = 65'536;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr ipv4(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text, &address.sin_addr);
  sockaddr generic{};
  std::memcpy(&generic, &address, sizeof address);
  return generic;
}

ifreq request(const std::string& name) {
  ifreq result{};
  name.copy(result.ifr_name, IFNAMSIZ - 1);
  return result;
}

void bring_up(const std::string& name, const std::string& address, int mtu) {
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) fail("socket");
  ifreq wanted = request(name);
  wanted.ifr_addr = ipv4(address.c_str());
  bool ok = ioctl(control, SIOCSIFADDR, &wanted) == 0;
  wanted = request(name);
  wanted.ifr_netmask = ipv4("255.255.255.0");
  ok = ok && ioctl(control, SIOCSIFNETMASK, &wanted) == 0;
  wanted = request(name);
  wanted.ifr_mtu = mtu;
  ok = ok && ioctl(control, SIOCSIFMTU, &wanted) == 0;
  wanted = request(name);
  wanted.ifr_flags = IFF_UP | IFF_RUNNING;
  ok = ok && ioctl(control, SIOCSIFFLAGS, &wanted) == 0;
  const int error = errno;
  close(control);
  errno = error;
  if (!ok) fail("configuring the TUN device");
}

}  // namespace

void enter_own_namespace() {
  if (unshare(CLONE_NEWNET) != 0) fail("a network namespace of its own");
}

void set_sysctl(std::string name, const std::string& value) {
  const std::string shown = name;
  std::replace(name.begin(), name.end(), '.', '/');
  std::ofstream file("/proc/sys/" + name);
  file << value << std::flush;
  if (!file) throw std::runtime_error("cannot set " + shown + " to '" + value + "'");
}

Instant monotonic_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Instant::from_nanoseconds(time.tv_sec * 1'000'000'000LL + time.tv_nsec);
}

Tun::Tun(const std::string& address, int mtu)
    : fd_(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
  if (fd_ < 0) fail("/dev/net/tun");
  const std::string name = "conformance0";
  ifreq wanted = request(name);
  wanted.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(fd_, TUNSETIFF, &wanted) != 0) {
    const int error = errno;
    close(fd_);
    errno = error;
    fail("TUNSETIFF");
  }
  try {
    bring_up(name, address, mtu);
  } catch (...) {
    close(fd_);
    throw;
  }
}

Tun::~Tun() { close(fd_); }

void Tun::send(ConstBytes packet) {
  if (write(fd_, packet.data(), packet.size()) != static_cast<ssize_t>(packet.size())) {
    fail("writing to the TUN device");
  }
}

std::optional<std::vector<std::byte>> Tun::receive(Instant deadline) {
  std::vector<std::byte> packet(kLargestPacket);
  for (;;) {
    const ssize_t size = read(fd_, packet.data(), packet.size());
    if (size > 0) {
      packet.resize(static_cast<std::size_t>(size));
      return packet;
    }
    if (size < 0 && errno != EAGAIN && errno != EINTR) fail("reading from the TUN device");
    const std::int64_t left = (deadline - monotonic_now()).to_nanoseconds();
    if (left <= 0) return std::nullopt;
    pollfd entry{fd_, POLLIN, 0};
    const timespec time{left / 1'000'000'000, left % 1'000'000'000};
    ppoll(&entry, 1, &time, nullptr);
  }
}

}  // namespace satrelay::conformance
