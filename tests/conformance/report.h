// What became of each script on each side, as a table and as GoogleTest's XML report, which
// tests/runner counts.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/player.h"
#include "tests/conformance/script.h"

namespace satrelay::conformance {

enum class Verdict : std::uint8_t {
  kNotPlayed,
  kPassed,
  kFailed,
  kPending,  // fails, as its script says; one that passes is a failure: the mark is to go
  kSkipped,
};

struct Result {
  Verdict verdict = Verdict::kNotPlayed;
  int attempts = 1;
  std::string message;
  std::vector<std::string> ladder;
};

struct Row {
  const Script* script = nullptr;
  Result endpoint;
  Result kernel;
};

void print_table(const std::vector<Row>& rows);
void print_ladders(const std::vector<Row>& rows);
void print_failures(const std::vector<Row>& rows);
void print_summary(const std::vector<Row>& rows);
bool any_failure(const std::vector<Row>& rows);
void write_xml(const std::vector<Row>& rows, const std::string& path);

}  // namespace satrelay::conformance
