#include "config/readers/psk_file.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "config/text/descriptor.h"
#include "config/text/error.h"

namespace satrelay::config {
namespace {

constexpr std::size_t kDigits = 2 * kPskSize;
// Two keys, each with the end of its line. `Text` can hold one more byte, so that a file that is
// too long is detected.
constexpr std::size_t kLongest = 2 * (kDigits + 1);
using Text = Secret<kLongest + 1>;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& message) {
  throw ConfigError(file.string() + ": " + message);
}

[[noreturn]] void fail_for_rights(const std::filesystem::path& file, const std::string& message) {
  throw FileError(file.string() + ": " + message, FileError::Cause::kRights);
}

[[noreturn]] void fail_to_read(const std::filesystem::path& file) {
  const int error = errno;
  const bool is_forbidden = error == EACCES && ::geteuid() != 0;
  std::string cure;
  if (is_forbidden) {
    cure = "; give it the group of the user that satrelayd runs as, and mode 0640 (chgrp, chmod)";
  } else if (error == ENOENT) {
    cure = "; correct the path, or make the file with satrelayctl keygen";
  }
  throw FileError(file.string() + ": cannot be read: " + std::strerror(error) + cure,
                  FileError::cause_of(error));
}

std::string octal(::mode_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((mode >> shift) & 7U));
  }
  return digits;
}

// The group that may read a file of root: the group of the user that this process becomes or, if
// the process does not run as root, the group of the process.
std::optional<::gid_t> group_of(const std::string& reader) {
  if (::geteuid() != 0) return ::getegid();
  const ::passwd* found = ::getpwnam(reader.empty() ? kGatewayUser : reader.c_str());
  if (found == nullptr && reader.empty()) found = ::getpwnam(kNobody);
  return found != nullptr && found->pw_uid != 0 ? std::optional(found->pw_gid) : std::nullopt;
}

// The gateway reads the file of root again at a reload, when it is no longer root. With mode 0600
// that reload would be refused, so the cure is the group that may read it.
std::string cure_for(const std::optional<::gid_t>& reader) {
  const ::group* const found = reader && *reader != 0 ? ::getgrgid(*reader) : nullptr;
  if (found == nullptr) return "set it to 0600";
  return "set it to 0640, and its group to " + std::string(found->gr_name);
}

// Checks the opened file and not its path, so that no other file can take its place before it is
// read.
void check_who_may_read(const std::filesystem::path& file, const Descriptor& descriptor,
                        const std::string& reader) {
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) fail_to_read(file);
  if (!S_ISREG(status.st_mode)) fail(file, "is not a regular file; write the path of one");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    fail_for_rights(file, "belongs to user " + std::to_string(status.st_uid) +
                              "; it must belong to root or to the user that satrelayd runs as");
  }
  const std::optional<::gid_t> group =
      status.st_uid == 0 ? group_of(reader) : std::optional<::gid_t>();
  if ((status.st_mode & (group == status.st_gid ? 037U : 077U)) != 0) {
    fail_for_rights(file, "has mode " + octal(status.st_mode) +
                              ", so others may read or write it; " + cure_for(group));
  }
}

std::size_t read_all(const std::filesystem::path& file, const Descriptor& descriptor, Text& text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const ::ssize_t got =
        ::read(descriptor.number(), text.bytes().data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(file);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

std::optional<unsigned> digit_of(std::byte character) {
  const auto c = static_cast<char>(character);
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

Secret<kPskSize> key_of(ConstBytes line, const std::filesystem::path& file, int number) {
  const auto fail_at = [&](std::size_t index, const std::string& message) {
    throw ConfigError(file.string() + ":" + std::to_string(number) + ":" +
                      std::to_string(index + 1) + ": " + message);
  };
  Secret<kPskSize> key;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i == kDigits) fail_at(i, "more than 64 hexadecimal digits; a key has 64");
    const auto digit = digit_of(line[i]);
    if (!digit) fail_at(i, "no hexadecimal digit; a key is 64 of 0 to 9 and a to f");
    std::byte& octet = key.bytes()[i / 2];
    octet = octet << 4 | static_cast<std::byte>(*digit);
  }
  if (line.size() < kDigits) {
    fail_at(line.size(), std::to_string(line.size()) + " hexadecimal digits; a key has 64");
  }
  return key;
}

}  // namespace

PresharedKeys read_psk_file(const std::filesystem::path& file, const std::string& reader) {
  const Descriptor descriptor = open_to_read(file);
  if (descriptor.number() < 0) fail_to_read(file);
  check_who_may_read(file, descriptor, reader);
  Text text;
  const std::size_t size = read_all(file, descriptor, text);
  if (size == 0) fail(file, "is empty; make a key with satrelayctl keygen");
  if (size > kLongest) {
    fail(file, "is too long; write one key of 64 hexadecimal digits, or two, a line each");
  }
  const ConstBytes all = ConstBytes(text.bytes()).first(size);
  const auto end_of_line = std::find(all.begin(), all.end(), std::byte{'\n'});
  const auto first = all.first(static_cast<std::size_t>(end_of_line - all.begin()));
  PresharedKeys keys{key_of(first, file, 1), std::nullopt};
  if (all.size() <= first.size() + 1) return keys;
  ConstBytes second = all.subspan(first.size() + 1);
  if (second.back() == std::byte{'\n'}) second = second.first(second.size() - 1);
  keys.other = key_of(second, file, 2);
  if (equal_in_constant_time(keys.current.bytes(), keys.other->bytes())) {
    throw ConfigError(file.string() + ":2:1: the same key again; write another, or none");
  }
  return keys;
}

}  // namespace satrelay::config
