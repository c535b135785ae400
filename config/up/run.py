"""Start everything in order, keep it running, stop it in order."""

from collections.abc import Mapping
from pathlib import Path

from config import runtime_env
from config.embedded import ports, postgres, valkey
from config.up import environment, programs
from config.up.output import Output
from config.up.supervisor import StopRequestedError, Supervisor

DEFAULT_PORT = "8000"
DEFAULT_SIMULATOR_PORT = 8010


class PortTakenError(RuntimeError):
    """Another program listens where the web server should."""


def run(root: Path, held: int) -> None:
    """Run the service until somebody asks for the end.

    `held` is the claim on the data folder. Raises PortTakenError, MissingSecretError,
    BrokerAwayError, ServerDiedError, ServerSilentError, and what the embedded servers raise.
    """
    var = root / "var"
    env = environment.with_secrets(environment.given(), var)
    ours = not env.get("DATABASE_URL")
    env.setdefault("PORT", DEFAULT_PORT)
    port = _free_port(env["PORT"])
    env.setdefault("PUBLIC_URL", f"http://127.0.0.1:{port}")
    simulator_port = _simulator_port(env, port) if ours else None
    env["PYTHONUNBUFFERED"] = "1"
    if env.get("BROKER_URL"):
        programs.ask_broker(env["BROKER_URL"])
    output = Output()
    supervisor = Supervisor(output, held=[held])
    supervisor.listen_for_signals()
    try:
        _start_servers(supervisor, env, root)
        _start_programs(supervisor, env, root, port)
        if simulator_port is not None:  # nobody pretends to be a provider to a database of yours
            supervisor.start(programs.simulator(env, root, simulator_port))
        _leave_word(env, var)
        if ours:  # a database from outside gets no demo data unasked
            supervisor.run(programs.manage("welcome", ("welcome",), env, root), as_is=True)
        output.say(f"Everything runs: {env['PUBLIC_URL']}/admin/ (Ctrl-C stops it, the data stays)")
        supervisor.watch()
    except StopRequestedError:
        pass
    finally:
        runtime_env.runtime_file(root).unlink(missing_ok=True)
        supervisor.stop()
    output.say("Everything has stopped; the data is in var/.")


def _start_servers(supervisor: Supervisor, env: dict[str, str], root: Path) -> None:
    if not env.get("DATABASE_URL"):
        server = postgres.prepare(root / "var" / "postgres")
        supervisor.start(server)
        env["DATABASE_URL"] = server.url
    if not env.get("BROKER_URL"):
        server = valkey.prepare(root / "var" / "valkey")
        supervisor.start(server)
        env["BROKER_URL"] = server.url


def _start_programs(supervisor: Supervisor, env: Mapping[str, str], root: Path, port: int) -> None:
    supervisor.run(programs.manage("migrate", ("migrate", "--noinput"), env, root))
    supervisor.start(programs.web(env, root, port))
    supervisor.start(programs.worker(env, root, port))
    supervisor.start(programs.beat(env, root))
    if env.get("RELAY") != "cdc" and (env.get("AMQP_URL") or not env.get("KAFKA_SERVERS")):
        supervisor.start(programs.totals(env, root))  # elsewhere it would hear nothing


def _leave_word(env: Mapping[str, str], var: Path) -> None:
    kept = {name: env[name] for name in runtime_env.NAMES if name in env}
    runtime_env.write(runtime_env.runtime_file(var.parent), kept)


def _simulator_port(env: dict[str, str], web_port: int) -> int:
    """The port that was asked for, else the usual one if it is free, else any."""
    if env.get("SIMULATOR_PORT"):
        port = _free_port(env["SIMULATOR_PORT"], "SIMULATOR_PORT")
    elif web_port != DEFAULT_SIMULATOR_PORT and ports.is_free("127.0.0.1", DEFAULT_SIMULATOR_PORT):
        port = DEFAULT_SIMULATOR_PORT
    else:
        port = ports.free_port()
    env["SIMULATOR_PORT"] = str(port)
    return port


def _free_port(text: str, name: str = "PORT") -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:  # noqa: PLR2004
        raise PortTakenError(f"{name} is {text!r}; it must be a number from 1 to 65535.")
    port = int(text)
    if not ports.is_free("127.0.0.1", port):
        raise PortTakenError(
            f"Port {port} is in use by another program. Choose another one: {name}=8001 make run"
        )
    return port
