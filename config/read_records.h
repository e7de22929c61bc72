// records: what is written down of flows that have ended.
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

Records read_records(const Value& value);

}  // namespace satrelay::config
