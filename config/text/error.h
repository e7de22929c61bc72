// A mistake in a configuration file, and its place.
#pragma once

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace satrelay::config {

// what() reads "file:line:column: path: what is wrong; what is allowed". Line and column count
// from 1. They are missing if the file cannot be read.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(const std::string& message) : std::runtime_error(message) {}
};

// A file of the configuration cannot be read, or the wrong users may read it. The text of the
// configuration may be correct.
class FileError : public ConfigError {
 public:
  enum class Cause : std::uint8_t {
    kRights,  // its owner, group or mode
    kOther,   // for example, no file has this name
  };
  FileError(const std::string& message, Cause cause) : ConfigError(message), cause_(cause) {}
  Cause cause() const { return cause_; }
  // The cause that an error number of open() or read() shows.
  static Cause cause_of(int error) {
    return error == EACCES || error == EPERM ? Cause::kRights : Cause::kOther;
  }

 private:
  Cause cause_;
};

}  // namespace satrelay::config
