// The results of each script on each side, as a table and as GoogleTest's XML report, which
// tests/summary.py counts.
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
  kPending,  // Fails, as its script says. A pending script that passes is a failure: the mark must
             // go.
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
