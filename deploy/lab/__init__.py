"""The lab: two hosts, two gateways and a satellite link in network namespaces of one machine.

Used by deploy/demo.sh and by tests/e2e. Needs root, and only the Python standard library.
"""
