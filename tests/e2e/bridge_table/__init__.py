"""The conditions of tests/e2e/as_a_bridge: traffic over a plain bridge, and the same traffic through two gateways."""
