// Says what was written, and what the operator does next.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "relay/satrelayctl/init/answers.h"

namespace satrelay::ctl::init {

struct Result {
  std::vector<std::filesystem::path> backups;
  std::vector<std::string> remarks;  // warnings and notes of the loader, each with its place
  bool gateway_reads_secret = true;  // false: the machine has no user for the gateway
};

std::string next_steps(const Answers& answers, const Result& result);

}  // namespace satrelay::ctl::init
