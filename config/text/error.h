// The mistakes in a configuration file, and their places.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace satrelay::config {

struct Place {
  int line = 0;  // counts from 1; 0 if unknown
  int column = 0;
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

// Why a file that the configuration needs cannot be used.
enum class FileCause : std::uint8_t {
  kRights,  // its owner, group or mode
  kOther,   // for example, no file has this name
};

struct Mistake {
  // "file:line:column: path: what is wrong; what is allowed". Line and column are missing if they
  // are unknown.
  std::string text;
  Place place = {};
  // Two mistakes with the same place and the same name are one mistake. An alias of YAML can lead
  // to one value by several paths.
  std::string name = {};
  std::optional<FileCause> cause = std::nullopt;  // if the mistake is one of a FileError
};

// what() tells the first mistake, in one line, and the number of the others.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(const std::string& message) : ConfigError(Mistake{.text = message}) {}
  explicit ConfigError(const Mistake& mistake) : ConfigError(std::vector<Mistake>(1, mistake)) {}
  explicit ConfigError(std::vector<Mistake> mistakes);

  // All mistakes, in the order of the file. It is empty if another error has told the mistake.
  const std::vector<Mistake>& mistakes() const { return *mistakes_; }

 private:
  std::shared_ptr<const std::vector<Mistake>> mistakes_;  // a copy of an exception must not throw
};

// A file of the configuration cannot be read, or the wrong users may read it. The text of the
// configuration may be correct.
class FileError : public ConfigError {
 public:
  using Cause = FileCause;
  FileError(const std::string& message, Cause cause)
      : FileError(std::vector<Mistake>{{.text = message, .cause = cause}}, cause) {}
  FileError(std::vector<Mistake> mistakes, Cause cause)
      : ConfigError(std::move(mistakes)), cause_(cause) {}
  Cause cause() const { return cause_; }
  // The cause that an error number of open() or read() shows.
  static Cause cause_of(int error) {
    return error == EACCES || error == EPERM ? Cause::kRights : Cause::kOther;
  }

 private:
  Cause cause_;
};

// A document with so many mistakes is not read further.
inline constexpr std::size_t kMostMistakes = 1'000;
// How many of them lines_of() tells.
inline constexpr std::size_t kMostToldMistakes = 100;

// The text of an error for a person: a line for each mistake and, if there are several, a line with
// their number. The lines have no newline.
std::vector<std::string> lines_of(const ConfigError& error);

}  // namespace satrelay::config
