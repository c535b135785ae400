"""Settings, all from the environment; `.env.example` lists every variable with its meaning."""

from datetime import timedelta
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from config import runtime_env, variables
from config.console import navigation

BASE_DIR = Path(__file__).resolve().parent.parent
runtime_env.load(BASE_DIR)
env = environ.Env()

# --- Secrets and exposure (checked by config/preflight.py) ---
SECRET_KEY = env.str("SECRET_KEY", "")
VAULT_KEYS = env.list("VAULT_KEYS", default=[])
DEBUG = variables.switch("DEBUG")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
PUBLIC_URL = variables.address("PUBLIC_URL", "http://127.0.0.1:8000", ("https", "http")).rstrip("/")
# Where `make run` has its provider simulator; empty where there is none.
SIMULATOR_PORT = variables.number("SIMULATOR_PORT", 0)
SIMULATOR_URL = f"http://127.0.0.1:{SIMULATOR_PORT}" if SIMULATOR_PORT else ""
TRUSTED_PROXY = variables.switch("TRUSTED_PROXY")
if TRUSTED_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    USE_X_FORWARDED_HOST = False
SECURE_SSL_REDIRECT = variables.switch("HTTPS_ONLY")
# A provider does not follow redirects, and a probe speaks plain HTTP inside the network.
SECURE_REDIRECT_EXEMPT = [r"^callbacks/", r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_SSL_REDIRECT else 0
# Whether the other hosts of the domain speak https only is not for this service to promise.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE_SSL_REDIRECT
# Over https no other host of the domain and no plain answer can set these (RFC 6265bis, 4.1.3.2).
_HOST_ONLY = "__Host-" if SECURE_SSL_REDIRECT else ""
SESSION_COOKIE_NAME = f"{_HOST_ONLY}sessionid"
CSRF_COOKIE_NAME = f"{_HOST_ONLY}csrftoken"
LANGUAGE_COOKIE_NAME = f"{_HOST_ONLY}language"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# No script of ours reads the CSRF token, forms carry it.
CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"

# --- Who works in the console, and for how long at a stretch (config/access) ---
CONSOLE_IDLE = timedelta(minutes=variables.number("CONSOLE_IDLE_MINUTES", 30, least=1))
SESSION_COOKIE_AGE = variables.number("CONSOLE_SESSION_HOURS", 12, least=1) * 60 * 60
CONSOLE_SECOND_FACTOR = variables.choice(
    "CONSOLE_SECOND_FACTOR", "optional", ("off", "optional", "required")
)
# Groups whose members need one where it is required; superusers always do. None: everybody.
CONSOLE_SECOND_FACTOR_ROLES = variables.names("CONSOLE_SECOND_FACTOR_ROLES")
LOGIN_REDIRECT_URL = "admin:index"

# --- Applications ---
INSTALLED_APPS = [
    "config",  # first: it replaces pages of unfold and a command of Django
    "config.access",
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "audit",
    "idempotency",
    "orders",
    "outbox",
    "payments",
]
MIDDLEWARE = [
    "config.requests.RequestLogMiddleware",
    "config.csp.ContentSecurityPolicyMiddleware",
    "config.health.HealthMiddleware",
    "config.metrics.MetricsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.access.sessions.SessionEndMiddleware",
    "config.access.preferences.PreferencesMiddleware",
    "config.access.gate.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.console.members.MembersMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
# A redirect would turn a provider's POST into a GET: both forms of each path are routed.
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
UNFOLD = navigation.UNFOLD

STATIC_URL = "static/"
# Static files come straight from the packages: nothing to collect before a start.
WHITENOISE_USE_FINDERS = True
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- Database: every wait is bounded, on both sides of the connection ---
DATABASES = {
    "default": env.db_url_config(
        variables.address("DATABASE_URL", "postgres:///paidonce", ("postgres", "postgresql"))
    )
}
DATABASES["default"] |= {
    "ENGINE": "config.postgresql",
    "ATOMIC_REQUESTS": False,
    "CONN_MAX_AGE": variables.number("DATABASE_CONN_MAX_AGE", 600),
    "CONN_HEALTH_CHECKS": False,
    "OPTIONS": {
        "connect_timeout": 3,
        "tcp_user_timeout": 3000,
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "application_name": "paidonce",
        # Bound by the server, a statement is parsed and planned once per connection instead of
        # once per callback.
        "server_side_binding": True,
        "prepare_threshold": variables.number("DATABASE_PREPARE_AFTER", 5) or None,
        "options": " ".join(
            [
                f"-c lock_timeout={variables.number('DATABASE_LOCK_TIMEOUT_MS', 2000)}",
                f"-c statement_timeout={variables.number('DATABASE_STATEMENT_TIMEOUT_MS', 5000)}",
                "-c idle_in_transaction_session_timeout=5000",
                "-c client_connection_check_interval=1000",
                "-c timezone=UTC",
            ]
        ),
    },
}

# --- Celery: a message is a hint, the table is the truth ---
BROKER_URL = variables.address("BROKER_URL", "redis://127.0.0.1:6379/0", variables.BROKER_SCHEMES)
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"visibility_timeout": 120, "socket_timeout": 5, "socket_connect_timeout": 3}
    if BROKER_URL.startswith("redis")
    else {"confirm_publish": True}
)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 60
# The clock must not hang on a broker that is away: its next tick is half a second off.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0.1, "interval_max": 0.5}
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_TIMEZONE = "UTC"

# --- Where events go: RabbitMQ where AMQP_URL is set, else Kafka, else a stream (Valkey, Redis) ---
AMQP_URL = env.str("AMQP_URL", "")
AMQP_EXCHANGE = env.str("AMQP_EXCHANGE", "paidonce.events")
AMQP_QUEUE = env.str("AMQP_QUEUE", "paidonce.events.all")
EVENT_STREAM_URL = env.str("EVENT_STREAM_URL", BROKER_URL if BROKER_URL.startswith("redis") else "")
EVENT_STREAM = env.str("EVENT_STREAM", "paidonce.events")
EVENT_STREAM_LENGTH_MAX = variables.number("EVENT_STREAM_LENGTH_MAX", 1_000_000, least=1)
# Types of which a dead event lets those behind it pass.
OUTBOX_FOLLOWERS_PASS = variables.names("OUTBOX_FOLLOWERS_PASS")
EVENT_SOURCE = variables.uri_reference("EVENT_SOURCE", "paidonce")
# Beyond every way in which a consumer could still want them again.
OUTBOX_KEPT = timedelta(days=variables.number("OUTBOX_KEPT_DAYS", 30, least=4))
# "cdc": events leave through the database's log (docs/cdc.md), and no relay publishes them.
RELAY = variables.choice("RELAY", "polling", ("polling", "cdc"))
CDC_PUBLICATION = CDC_SLOT = "paidonce_outbox"
CDC_SLOT_BYTES_MAX = variables.number("CDC_SLOT_BYTES_MAX", 1024**3, least=1)

# --- GET /metrics is there for who has this token; without one it is not there ---
METRICS_TOKEN = env.str("METRICS_TOKEN", "")

KAFKA_SERVERS = env.str("KAFKA_SERVERS", "")
KAFKA_TOPIC = env.str("KAFKA_TOPIC", "paidonce.events")
KAFKA_OPTIONS = env.dict("KAFKA_OPTIONS", default={})

# --- Events that were heard: longer than any of them may come again ---
INBOX_KEPT = timedelta(
    days=variables.number("INBOX_KEPT_DAYS", 90, least=max(14, OUTBOX_KEPT.days + 1))
)

# --- Events to merchants' endpoints as signed HTTP ---
# The module that encrypts their secrets: the outbox may not know who that is.
OUTBOX_VAULT = "payments.vault"
# What an endpoint gets that names no types; `conflict.*` concerns only who runs the service.
OUTBOX_WEBHOOK_TYPES = ("order.*", "payment.*", "refund.*")
# Endpoints on this machine and in private networks, and without TLS: for tests and development.
OUTBOX_WEBHOOK_ALLOW_PRIVATE = variables.switch("OUTBOX_WEBHOOK_ALLOW_PRIVATE")

# --- Telling people of conflicts (docs/console.md): at most one message to each so often ---
NOTIFY_EVERY = timedelta(minutes=variables.number("NOTIFY_EVERY_MINUTES", 5, least=1))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("NOTIFY_FROM", "paidonce@localhost")
EMAIL_HOST = env.str("EMAIL_HOST", "")
EMAIL_PORT = variables.number("EMAIL_PORT", 587, least=1)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "")
# "starttls" on a plain connection that becomes a safe one, "tls" from the first byte, or "none".
_EMAIL_SAFETY = variables.choice("EMAIL_SAFETY", "starttls", ("starttls", "tls", "none"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL_SAFETY == "starttls", _EMAIL_SAFETY == "tls"
EMAIL_TIMEOUT = 10

# --- Waiting for an order that a payment names, before a person is asked ---
PARKED_GRACE = timedelta(minutes=variables.number("PARKED_GRACE_MINUTES", 15))

# --- Idempotency keys: how long answers are kept, and what spares the database a storm ---
IDEMPOTENCY_KEPT = timedelta(days=variables.number("IDEMPOTENCY_KEPT_DAYS", 30, least=4))
IDEMPOTENCY_FRONT_URL = env.str(
    "IDEMPOTENCY_FRONT_URL", BROKER_URL if BROKER_URL.startswith("redis") else ""
)
IDEMPOTENCY_KEYS_PER_DAY = variables.number("IDEMPOTENCY_KEYS_PER_DAY", 1_000_000)
API_CALLS_PER_MINUTE = variables.number("API_CALLS_PER_MINUTE", 6000)

# --- HTTP API ---
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["orders.api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["orders.api.authentication.IsMerchant"],
    "DEFAULT_PARSER_CLASSES": ["orders.api.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["orders.api.limits.CallsPerMinute"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "orders.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Paidonce",
    "DESCRIPTION": "Every payment callback, exactly one effect.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- Logging: one JSON object a line, see config/logs.py ---
LOG_LEVEL = variables.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING_CONFIG = "config.logs.configure"
LOGGING = {"level": LOG_LEVEL}

if not SECRET_KEY:
    raise ImproperlyConfigured(
        "SECRET_KEY is not set. Run `make run` for an embedded trial that makes its own secrets, "
        "or fill in a copy of .env.example and load it: set -a; . ./.env; set +a"
    )
