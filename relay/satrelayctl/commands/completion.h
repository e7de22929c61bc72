// Completion of satrelayctl's words in a shell. The script is made from the commands and options by
// which the program itself parses. It also completes satrelayd, which it asks for the keys of
// gateway.yaml.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "relay/client/reply.h"
#include "relay/ops/control/control_grammar.h"

namespace satrelay::ctl {

// The candidates for the value of an option, or for the word in a place.
struct Candidates {
  std::vector<std::string> words;  // a word that ends with '=' is only a beginning
  ops::NamesIn names = {};         // names that the running gateway lists
  bool are_files = false;
};
using CandidatesOf = std::map<const CLI::Option*, Candidates>;

Candidates candidates_of(const ops::ControlArgument& argument);

enum class Shell { kBash, kZsh };
inline constexpr const char* kShellWords[] = {"bash", "zsh"};
// The script asks the gateway by `satrelayctl completion-names LISTING FIELD OTHERWISE`.
std::string completion_script(const CLI::App& app, const CandidatesOf& candidates, Shell shell);

inline constexpr const char* kNamesCommand = "completion-names";
// The names in the entries of a listing, each once, a line each. Leaves out names that a shell
// would not take as one word.
std::string names_in(const Json& entries, const char* field, const char* otherwise);

}  // namespace satrelay::ctl
