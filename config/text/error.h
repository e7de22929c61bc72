// A mistake in a configuration file, and its place.
#pragma once

#include <stdexcept>
#include <string>

namespace satrelay::config {

// what() reads "file:line:column: path: what is wrong; what is allowed". Line and column count
// from 1. They are missing if the file cannot be read.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace satrelay::config
