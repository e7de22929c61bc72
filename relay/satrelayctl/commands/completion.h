// Writes a shell script that completes the words of satrelayctl. The script is derived from the
// commands and options with which satrelayctl itself parses its command line. It also completes
// satrelayd, and asks satrelayd for the keys of gateway.yaml.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "relay/client/reply.h"
#include "relay/ops/control/control_grammar.h"

namespace satrelay::ctl {

// The candidates for the value of an option, or for the word at a position.
struct Candidates {
  std::vector<std::string> words;  // if a word ends with '=', the user must add a value
  ops::NamesIn names = {};         // more candidates: names that the running gateway lists
  bool are_files = false;
};
using CandidatesOf = std::map<const CLI::Option*, Candidates>;

Candidates candidates_of(const ops::ControlArgument& argument);

enum class Shell { kBash, kZsh };
inline constexpr const char* kShellWords[] = {"bash", "zsh"};
// Returns the script. To get names from the gateway, the script calls `satrelayctl completion-names
// LISTING FIELD OTHERWISE`.
std::string completion_script(const CLI::App& app, const CandidatesOf& candidates, Shell shell);

inline constexpr const char* kNamesCommand = "completion-names";
// Returns the names in the entries of a listing, each once and on a separate line. An entry has its
// name in the field `field` or, if that is empty, in the field `otherwise`. Leaves out names that a
// shell would not read as one word.
std::string names_in(const Json& entries, const char* field, const char* otherwise);

}  // namespace satrelay::ctl
