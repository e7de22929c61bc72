// What is wrong with a configuration file, and where.
#pragma once

#include <stdexcept>
#include <string>

namespace satrelay::config {

// what() reads "file:line:column: path: what is wrong; what is allowed". Line and column count
// from 1; a file that cannot be read has neither.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace satrelay::config
