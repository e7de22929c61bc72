// Completion of satrelayctl's words in a shell. The script is made from the commands and options
// that the program itself parses by.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "relay/client/reply.h"
#include "relay/ops/control/control_grammar.h"

namespace satrelay::ctl {

// What may be the value of an option, or stand in the place of a word.
struct Candidates {
  std::vector<std::string> words;  // one that ends with '=' is only the beginning
  ops::NamesIn names = {};         // that the running gateway is asked for
  bool are_files = false;
};
using CandidatesOf = std::map<const CLI::Option*, Candidates>;

Candidates candidates_of(const ops::ControlArgument& argument);

enum class Shell { kBash, kZsh };
inline constexpr const char* kShellWords[] = {"bash", "zsh"};
// To ask the gateway it runs `satrelayctl completion-names LISTING FIELD OTHERWISE`.
std::string completion_script(const CLI::App& app, const CandidatesOf& candidates, Shell shell);

inline constexpr const char* kNamesCommand = "completion-names";
// The names in the entries of a listing, each once, a line each; those that a shell would not take
// as one word are left out.
std::string names_in(const Json& entries, const char* field, const char* otherwise);

}  // namespace satrelay::ctl
