// The places of the values of a document, and the mistakes that its readers find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/text/error.h"

namespace satrelay::config {

// Whether the first mistake ends the reading of a document, or the reading goes on, so that all
// mistakes are told at once.
enum class Telling : std::uint8_t { kFirst, kAll };

// Thrown when a document has so many mistakes or values that reading further makes no sense. It is
// no ConfigError, so attempt() does not stop it.
struct ReadingEnded {};

class Places {
 public:
  explicit Places(std::string file, Telling telling = Telling::kFirst)
      : file_(std::move(file)), telling_(telling) {}

  // Throws ConfigError if the document has more than kMostValues values. An alias of YAML counts
  // with all values that it stands for, so a short text could otherwise fill the memory.
  void record(const std::string& path, Place place);
  // Returns "file:line:column: path: message". If the path is not in the file, the place belongs to
  // its nearest parent in the file.
  std::string point_at(const std::string& path, const std::string& message) const;
  // Throws ConfigError with the text of point_at().
  [[noreturn]] void fail(const std::string& path, const std::string& message) const;
  // Like fail(), for a place that is not the one of the value at `path`.
  [[noreturn]] void fail_at(Place place, const std::string& path, const std::string& message) const;
  // Throws `error` with the place of the value at `path`, which names the file.
  [[noreturn]] void fail(const std::string& path, const FileError& error) const;

  // Runs `read`, which reads the value at `path`. If all mistakes are to be told, it keeps a
  // ConfigError that `read` throws, and marks `path` as wrong.
  template <typename Read>
  void attempt(const std::string& path, Read&& read) {
    if (telling_ == Telling::kFirst) {
      read();
      return;
    }
    try {
      read();
    } catch (const ConfigError& error) {
      keep(path, error);
    }
  }
  // Whether the value at `path`, or a value in it, has a mistake.
  bool is_wrong(const std::string& path) const;
  // Runs `read`, which reads the whole document, and then throws one ConfigError with all mistakes
  // that were kept, in the order of the file. It is a FileError if each mistake is one.
  template <typename Read>
  void read_all(Read&& read) {
    try {
      attempt("", read);
    } catch (const ReadingEnded&) {
      // The mistakes that were found until then are kept.
    }
    throw_mistakes();
  }

 private:
  static constexpr std::size_t kMostValues = 1'000'000;

  Place place_of(const std::string& path) const;
  std::string text_of(Place place, const std::string& path, const std::string& message) const;
  Mistake mistake_at(const std::string& path, const std::string& message) const;
  void keep(const std::string& path, const ConfigError& error);
  void throw_mistakes();

  std::string file_;
  Telling telling_;
  std::map<std::string, Place> places_;
  std::vector<Mistake> mistakes_;
  std::set<std::pair<Place, std::string>> told_;  // places and names of `mistakes_`
  std::set<std::string> wrong_;                   // paths
};

}  // namespace satrelay::config
