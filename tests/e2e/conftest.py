"""The fixtures and options of the end-to-end tests. The tests run one after another, each within a time limit.

side_by_side.py runs several files at once. A test that measures is marked `alone`, and runs while no other test does
(--alone).
"""

import contextlib
import functools
import os
import signal
import sys
import warnings
from xml.etree import ElementTree

import pytest
from _pytest.runner import runtestprotocol

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from interference import Interference, adopt_orphans  # noqa: E402

# A test that hangs is ended after this time.
MOST_SECONDS = 400


def pytest_addoption(parser):
    parser.addoption("--filter", default="", help="only tests whose name contains this")
    parser.addoption(
        "--alone",
        metavar="REPORT",
        help="only tests that measure, and those that REPORT (JUnit's XML) has not judged",
    )
    parser.addoption("--screenshots", metavar="FOLDER", help="where test_panel leaves pictures of its pages")


def pytest_configure(config):
    config.addinivalue_line("markers", "lab(...): the arguments of make_lab() for the fixture lab")
    config.addinivalue_line("markers", "long: run by tests/run.sh --suite long only")
    config.addinivalue_line("markers", "at_most(seconds): it is ended after so long")
    config.addinivalue_line("markers", "alone: measures, so that no other test may run beside it")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    adopt_orphans()


def short_name(item) -> str:
    """A name like e2e-restart::killed-gateways."""
    file = item.path.stem.removeprefix("test_")
    return f"e2e-{file}::{item.name.removeprefix('test_')}".replace("_", "-")


def pytest_collection_modifyitems(config, items):
    text = config.getoption("--filter")
    kept = [item for item in items if text in item.nodeid or text in short_name(item)]
    if report := config.getoption("--alone"):
        again = _not_judged_in(report)
        kept = [item for item in kept if item.get_closest_marker("alone") or _report_name(item) in again]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    for item in items:
        limit = item.get_closest_marker("at_most")
        item.obj = _in_time(item.obj, limit.args[0] if limit else MOST_SECONDS)


def _report_name(item) -> tuple[str, str]:
    """JUnit's XML names a test so: its class, and its name."""
    return ".".join(item.nodeid.split("::")[0].removesuffix(".py").split("/")), item.name


def _not_judged_in(report: str) -> set[tuple[str, str]]:
    """The tests that other programs disturbed, wholly or in one of their checks."""
    found = set()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        told = {each.get("name") for each in case.iter("property")}
        busy = skipped is not None and harness.BUSY in (skipped.get("message") or "")
        if busy or harness.NOT_JUDGED in told:
            found.add((case.get("classname"), case.get("name")))
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """If the emulator of a test has crashed, runs the test once more in a new guest, and warns."""
    has_crashed = getattr(item.module, "emulator_has_crashed", None)
    if has_crashed is None:
        return None
    crashed = False

    class Witness:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            nonlocal crashed
            crashed = crashed or (call.excinfo is not None and has_crashed(item))

    def run(following):
        witness = Witness()
        item.config.pluginmanager.register(witness)
        try:
            return runtestprotocol(item, nextitem=following, log=False)
        finally:
            item.config.pluginmanager.unregister(witness)

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = run(nextitem)
    if crashed:
        warnings.warn(f"{item.nodeid}: QEMU has crashed, once more in a new guest", stacklevel=1)
        item.session._setupstate.teardown_exact(None)
        item._initrequest()
        reports = run(nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _in_time(test, seconds: float):
    @functools.wraps(test)
    def run(*arguments, **named):
        with harness.in_time(test.__name__), _at_most(seconds):
            test(*arguments, **named)

    return run


@contextlib.contextmanager
def _at_most(seconds: float):
    def out_of_time(number, frame):
        raise harness.Failed(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[_USE] = Interference()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        # tests/summary.py --slowest shows it.
        item.user_properties.append(("processor", f"{item.stash[_USE].own_seconds():.2f}"))
    outcome = yield
    if outcome.get_result().failed:
        item.stash[_FAILED] = True


_FAILED = pytest.StashKey[bool]()
_USE = pytest.StashKey[Interference]()


@pytest.fixture(autouse=True)
def aftermath(request):
    """Reports checks that were not judged. If the test has failed, shows the last lines of the daemons."""
    harness.not_judged.clear()
    yield
    request.node.user_properties.extend((harness.NOT_JUDGED, each) for each in harness.not_judged)
    if request.node.stash.get(_FAILED, False):
        for lab in harness.labs[-1:]:
            # A lab that several tests share is still up.
            logs = lab.last_logs or (lab.logs() if isinstance(lab, harness.Lab) else {})
            for name, log in logs.items():
                print(f"--- {name}: its last lines\n{log}")


@pytest.fixture
def lab(request):
    """Two hosts, two gateways and the link between them. @pytest.mark.lab has make_lab's arguments.

    Each test has a lab of its own. With `pytestmark = pytest.mark.lab(...)` the tests of a file share one.
    """
    if request.node.parent.get_closest_marker("lab"):
        yield request.getfixturevalue("shared_lab")
        return
    with _lab_of(request) as made:
        yield made


@pytest.fixture(scope="module")
def shared_lab(request):
    with _lab_of(request) as made:
        yield made


@contextlib.contextmanager
def _lab_of(request):
    marker = request.node.get_closest_marker("lab")
    arguments, named = (marker.args, marker.kwargs) if marker else ((), {})
    with contextlib.ExitStack() as stack:
        with harness.in_time("the lab"):
            made = stack.enter_context(harness.make_lab(*arguments, **named))
        yield made
