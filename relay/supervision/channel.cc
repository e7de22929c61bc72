#include "relay/supervision/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace satrelay::supervision {
namespace {

std::optional<Message> parse_message(const char* octets, std::size_t size) {
  if (size == 0) return std::nullopt;
  const auto word = static_cast<unsigned char>(octets[0]);
  if (word < static_cast<unsigned char>(Word::kReady) ||
      word > static_cast<unsigned char>(Word::kLanDown)) {
    return std::nullopt;
  }
  return Message{.word = static_cast<Word>(word), .text = std::string(octets + 1, size - 1)};
}

bool is_seqpacket(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
         type == SOCK_SEQPACKET;
}

}  // namespace

Channel::Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Channel::send(const Message& message) const {
  std::string octets(1, static_cast<char>(message.word));
  octets.append(message.text, 0, kMostText);
  return ::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(octets.size());
}

Channel::Outcome Channel::receive(Message& message, Duration patience) const {
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  const auto wait = std::max<std::int64_t>(0, patience.to_nanoseconds() / 1'000'000);
  if (::poll(&wanted, 1, static_cast<int>(wait)) <= 0) return Outcome::kNothingYet;
  std::array<char, 1 + kMostText> octets{};
  const ssize_t size = ::recv(descriptor_, octets.data(), octets.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Outcome::kNothingYet;
  if (size <= 0) return Outcome::kClosed;
  auto parsed = parse_message(octets.data(), static_cast<std::size_t>(size));
  if (!parsed) return Outcome::kNothingYet;
  message = *std::move(parsed);
  return Outcome::kMessage;
}

ChannelPair make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {.supervisor = Channel(ends[0]), .gateway = Channel(ends[1])};
}

std::optional<Channel> inherited_channel() {
  const char* value = std::getenv(kVariable);
  if (value == nullptr) return std::nullopt;
  const std::string text = value;
  ::unsetenv(kVariable);
  int descriptor = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), descriptor);
  if (error != std::errc() || end != text.data() + text.size() || !is_seqpacket(descriptor) ||
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
    throw std::runtime_error(std::string(kVariable) + "=" + text +
                             " names no socket; only satrelay-supervise sets this variable");
  }
  return Channel(descriptor);
}

}  // namespace satrelay::supervision
