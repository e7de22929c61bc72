#include "relay/satpanel/http/http.h"

#include <nlohmann/json.hpp>

namespace satrelay::panel {
namespace {

const char* title_of(int status) {
  switch (status) {
    case 400:
      return "Bad request";
    case 401:
      return "Not logged in";
    case 403:
      return "Not allowed";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 409:
      return "Refused by the gateway";
    case 413:
      return "Too long";
    case 415:
      return "Wrong content type";
    case 421:
      return "Wrong host name";
    case 429:
      return "Too many tries";
    case 502:
      return "The gateway does not answer";
    case 503:
      return "Busy";
    case 504:
      return "The gateway takes longer";
    default:
      return "Error";
  }
}

}  // namespace

Response problem(int status, const std::string& detail) {
  const nlohmann::ordered_json body{
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  // Replace invalid UTF-8: `detail` may quote text from the client in any encoding.
  return {.status = status,
          .type = "application/problem+json",
          .body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

}  // namespace satrelay::panel
