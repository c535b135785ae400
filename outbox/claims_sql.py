"""The statements that move a dispatch from one state to another: see `outbox/claims.py`."""

from typing import Final

# The head of line of an aggregate at a destination is its first dispatch that is not published:
# while that one is claimed, waits or is dead, those behind it wait. As all go out in order, a
# dispatch is the head if the one before it is published, or dead and of a type that lets others
# pass. (NOT EXISTS would say the same; but where the statistics know nothing yet of a backlog,
# PostgreSQL then plans a join that looks at all of it for each event: 8 seconds a claim where
# 200,000 wait.) Locked rows are being claimed by somebody else. What rests is not claimed for.
# What was found is handed on as an array, which PostgreSQL can only look up by the primary key.
# Of what was found only so many bytes are taken, because all of it is held in memory until it is
# out; the rest is not claimed, and is the next batch's.
CLAIM_SQL: Final = """
    WITH heads AS MATERIALIZED (
        SELECT head.id, head.event_id, head.created_at
        FROM outbox_dispatch AS head
        WHERE head.destination_id = %(destination)s
          AND (SELECT state = 'ACTIVE' FROM outbox_destination WHERE id = %(destination)s)
          AND head.published_at IS NULL AND head.dead_at IS NULL
          AND (head.state = 'PENDING'
                   AND (head.next_attempt_at IS NULL OR head.next_attempt_at <= clock_timestamp())
               OR head.state = 'CLAIMED' AND head.lease_until <= clock_timestamp())
          AND (
              SELECT previous.published_at IS NULL
                 AND (previous.dead_at IS NULL OR NOT EXISTS (
                      SELECT FROM outbox_event AS passed
                       WHERE passed.id = previous.event_id
                         AND passed.type = ANY(%(passable)s::varchar[])))
              FROM outbox_dispatch AS previous
              WHERE previous.destination_id = head.destination_id
                AND previous.aggregate_type = head.aggregate_type
                AND previous.aggregate_id = head.aggregate_id
                AND previous.seq < head.seq
              ORDER BY previous.seq DESC
              LIMIT 1) IS NOT TRUE
          {window}
        ORDER BY head.created_at {direction}
        LIMIT %(batch)s
        FOR NO KEY UPDATE OF head SKIP LOCKED
    ), sized AS MATERIALIZED (
        -- In a subquery of its own for each, which can only be looked up by the primary key.
        SELECT heads.id, heads.created_at,
               (SELECT octet_length(event.payload::text)
                  FROM outbox_event AS event WHERE event.id = heads.event_id) AS bytes
        FROM heads
    ), fitting AS (
        SELECT id,
               sum(CASE WHEN bytes <= %(bytes_max)s THEN bytes ELSE 0 END)
                   OVER (ORDER BY created_at {direction}, id {direction}) AS bytes_so_far
        FROM sized
    )
    UPDATE outbox_dispatch AS dispatch
    SET state = 'CLAIMED', owner_token = %(owner)s, fence = dispatch.fence + 1,
        lease_until = clock_timestamp() + %(lease)s
    FROM outbox_event AS event
    WHERE dispatch.id = ANY (ARRAY(
              SELECT id FROM fitting WHERE bytes_so_far <= %(batch_bytes_max)s))
      AND event.id = dispatch.event_id
    RETURNING dispatch.id, dispatch.fence, dispatch.attempts, event.id, event.type,
        event.aggregate_type, event.aggregate_id, event.seq, event.created_at,
        CASE WHEN octet_length(event.payload::text) <= %(bytes_max)s THEN event.payload::text END,
        coalesce(event.headers ->> 'traceparent', ''), coalesce(event.headers ->> 'dataschema', '')
"""
OLDEST_FIRST_SQL: Final = CLAIM_SQL.format(direction="", window="")
# From the newest on it could be far to the next head: all of a backlog may wait behind one event.
NEWEST_FIRST_SQL: Final = CLAIM_SQL.format(
    direction="DESC",
    window="""AND head.created_at >= coalesce((
              SELECT newest.created_at
              FROM outbox_dispatch AS newest
              WHERE newest.destination_id = %(destination)s
                AND newest.published_at IS NULL AND newest.dead_at IS NULL
              ORDER BY newest.created_at DESC
              OFFSET 10 * %(batch)s::bigint LIMIT 1), '-infinity')""",
)

# The ids are named twice: where the statistics know of nobody who holds a claim, PostgreSQL would
# look for the claims by their owner, through the whole table.
MOVE_SQL: Final = """
    UPDATE outbox_dispatch AS dispatch
    SET owner_token = NULL, lease_until = NULL, {moves}
    FROM unnest(%(ids)s::bigint[], %(fences)s::integer[], %(waits)s::interval[], %(errors)s::text[])
        AS claim (id, fence, wait, error)
    WHERE dispatch.id = ANY (%(ids)s::bigint[])
      AND dispatch.id = claim.id AND dispatch.fence = claim.fence
      AND dispatch.owner_token = %(owner)s AND dispatch.state = 'CLAIMED'
    RETURNING dispatch.id, dispatch.state
"""
PUBLISHED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PUBLISHED', published_at = clock_timestamp(), next_attempt_at = NULL,
        last_error = ''"""
)
RELEASED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PENDING', next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)
_LAST: Final = "dispatch.attempts + 1 >= %(attempts_max)s"
REFUSED_SQL: Final = MOVE_SQL.format(
    moves=f"""state = CASE WHEN {_LAST} THEN 'DEAD' ELSE 'PENDING' END,
        dead_at = CASE WHEN {_LAST} THEN clock_timestamp() END,
        attempts = dispatch.attempts + 1, next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)
