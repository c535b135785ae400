"""The supervisor with programs of a few lines."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from config.up.supervisor import pause_after
from tests.processes import ROOT

_HEAD = """
import signal, sys
from config.embedded.server import Server
from config.up.output import Output
from config.up.supervisor import Supervisor

def program(name, code):
    return Server(name=name, command=(sys.executable, "-c", code), ready=lambda: True)

output = Output()
supervisor = Supervisor(output)
supervisor.listen_for_signals()
"""


def _supervise(tmp_path: Path, script: str) -> tuple[psutil.Popen, Path]:
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = psutil.Popen(
            [sys.executable, "-u", "-c", _HEAD + script],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    return process, log


def _wait_for(log: Path, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)


@pytest.mark.parametrize(("failures", "seconds"), [(0, 1), (1, 2), (4, 16), (5, 30), (20_000, 30)])
def test_the_pause_before_a_new_start_doubles_up_to_a_limit(failures: int, seconds: int) -> None:
    assert pause_after(failures) == seconds


def test_programs_stop_in_the_reverse_of_their_order(tmp_path: Path) -> None:
    process, log = _supervise(
        tmp_path,
        """
for name in ("first", "second", "third"):
    supervisor.start(program(name, "import time; time.sleep(600)"))
output.say("started")
supervisor.watch()
supervisor.stop()
""",
    )
    _wait_for(log, "started")
    process.terminate()
    assert process.wait(20) == 0
    said = [line for line in log.read_text().splitlines() if "Stopping" in line]
    assert said == [f"up       | Stopping {name} ..." for name in ("third", "second", "first")]


def test_a_second_ctrl_c_does_not_wait_for_a_program_that_will_not_stop(tmp_path: Path) -> None:
    process, log = _supervise(
        tmp_path,
        '''
stubborn = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""
supervisor.start(program("stubborn", stubborn))
supervisor.watch()
supervisor.stop()
''',
    )
    _wait_for(log, "deaf")
    [child] = process.children()
    process.send_signal(signal.SIGINT)
    _wait_for(log, "Stopping stubborn")
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert not child.is_running()


def test_what_a_crashed_program_left_behind_is_ended_before_it_is_started_again(
    tmp_path: Path,
) -> None:
    process, log = _supervise(
        tmp_path,
        '''
crashing = """
import subprocess, sys
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("left", left.pid, flush=True)
sys.exit(3)
"""
supervisor.start(program("crashing", crashing))
supervisor.watch()
supervisor.stop()
''',
    )
    _wait_for(log, "crashing ended with code 3; starting it again in 2 s.")
    left = int(log.read_text().split("left ")[1].split()[0])
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE
    process.terminate()
    assert process.wait(20) == 0


def test_each_line_carries_the_name_of_its_program_and_none_is_lost(tmp_path: Path) -> None:
    process, log = _supervise(
        tmp_path,
        """
supervisor.run(program("talker", "print('one'); print('two', end='')"))
supervisor.run(program("plain", "print('as it is')"), as_is=True)
""",
    )
    assert process.wait(20) == 0
    assert log.read_text() == "talker   | one\ntalker   | two\nas it is\n"


def test_a_program_that_fails_before_it_is_ready_ends_the_start(tmp_path: Path) -> None:
    process, log = _supervise(
        tmp_path,
        """
code = "print('why'); raise SystemExit(4)"
server = Server(name="broken", command=(sys.executable, "-c", code), ready=lambda: False)
try:
    supervisor.start(server)
finally:
    supervisor.stop()
""",
    )
    assert process.wait(20) == 1
    assert "broken   | why\n" in log.read_text()
    assert "ServerDiedError: broken ended with code 4 while starting.\n" in log.read_text()


def test_a_closed_terminal_stops_everything(tmp_path: Path) -> None:
    process, log = _supervise(
        tmp_path,
        """
supervisor.start(program("only", "import time; time.sleep(600)"))
output.say("started")
supervisor.watch()
supervisor.stop()
""",
    )
    _wait_for(log, "started")
    [child] = process.children()
    os.kill(process.pid, signal.SIGHUP)
    assert process.wait(20) == 0
    assert not child.is_running()


def test_when_nobody_reads_its_lines_any_more_it_stops(tmp_path: Path) -> None:
    code = """
talk = "import time\\nwhile print('on', flush=True) is None: time.sleep(0.05)"
supervisor.start(program("talker", talk))
output.say("started")
supervisor.watch()
supervisor.stop()
"""
    process = psutil.Popen(
        [sys.executable, "-c", _HEAD + code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        [child] = process.children()
        process.stdout.close()
        assert line == "up       | talker is ready.\n"
        assert process.wait(20) == 0
        assert not child.is_running()
    finally:
        with suppress(psutil.NoSuchProcess):
            process.kill()
